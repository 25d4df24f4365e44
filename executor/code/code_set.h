/* code_set: the parts of a build's code, each with its hash, and the identity that follows from them. A part
 * counts once, however many files hold it, and the order of files does not matter: an object file and the
 * program linked from it have the same code.
 *
 * The owner calls code_set_release() and code_release(), also after an error.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/sha256.h"
#include "common/contract/kernel_facts.h"
#include "executor/code/target.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { CODE_ITEMS_MAX = 200000, CODE_LISTED_MAX = 4096 };

/* Their values are part of the hash. */
enum code_item_kind {
    CODE_ITEM_KERNEL = 'k',   /* with all that it calls */
    CODE_ITEM_FUNCTION = 'f', /* of the device, not a kernel */
    CODE_ITEM_DATA = 'd',     /* of the device: constants, initial values */
    CODE_ITEM_OPAQUE = 'o',   /* device code that cannot be read: its bytes */
    CODE_ITEM_FILE = 'b',     /* a built file */
};

struct code_item {
    enum code_item_kind kind;
    char *name; /* owned */
    char sha256[SHA256_HEX_LEN + 1];
    char gpu[TARGET_MAX];      /* that a kernel was compiled for: "gfx942:xnack+"; "" unknown */
    struct kernel_facts facts; /* of a kernel; no part of the hash */
    const char *unknown;       /* why scratch memory or spills are not among them; static; NULL */
    char *listing;             /* of a kernel's machine code, owned; NULL: none */
};

struct code_set {
    struct code_item *item;
    size_t count, cap;
    struct targets gpus;   /* whose code counts; none: all code does */
    struct targets others; /* what code was for that none of them takes */
    bool compiles;         /* some of the code is compiled where it runs: PTX, SPIR-V */
    char reads[128];       /* the first built file that reads the sources while it runs, cut; "" */
    struct err why;        /* the first bound that was exceeded */
};

void code_set_init(struct code_set *s);
void code_set_release(struct code_set *s);
/* Copies the name. Refuses more than CODE_ITEMS_MAX. */
void code_set_add(struct code_set *s, enum code_item_kind kind, const char *name, const char *sha256);
/* Does the same for a kernel, with its kind, hash, GPU and facts. */
void code_set_add_kernel(struct code_set *s, const char *name, const struct code_item *kernel);
/* Whoever reads code says once that a bound was exceeded, and checks once at the end: ERR_INPUT. */
void code_set_refuse(struct code_set *s, const char *why);
int code_set_check(const struct code_set *s, struct err *err);
bool code_set_has_device(const struct code_set *s);

struct code {
    bool of_device; /* else of files */
    char sha256[SHA256_HEX_LEN + 1];
    struct code_item *kernel; /* owned, by name: one each; none if there are more than CODE_LISTED_MAX */
    size_t kernels, cap, omitted;
    struct targets gpus, others; /* as in the set */
    char reads[128];             /* as in the set: then the hash says only a part of what runs */
};

/* Gives the identity of the parts, which it sorts. ERR_INPUT where there are none. The facts of a kernel that
 * was built for several GPUs are those of its code that needs the most. */
int code_of_set(struct code_set *s, struct code *out, struct err *err);
/* Lists every kernel with its facts, once for each GPU and hash, by name: at most CODE_LISTED_MAX of them. */
void code_kernels(struct code_set *s, struct code *out);
void code_release(struct code *c);
/* Encodes an element of "kernels" of the following. */
json_t *code_kernel_encode(const struct code_item *kernel);
/* Encodes "gpus" of the following. */
json_t *code_gpus_encode(const struct targets *t);
/* Encodes the identity as schemas/code.schema.json describes it. */
json_t *code_encode(const struct code *c);
/* Encodes an unknown identity, with the reason. */
json_t *code_encode_unknown(const char *why);
