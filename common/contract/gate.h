/* gate: a condition that a variant must meet before it is timed. A command passes if it exits with 0; the
 * other kinds compare a number with a limit. For kernels it is the number of the worst one in the build's
 * resources.json, or in the files of "objects".
 */
#pragma once

#include "common/contract/command.h"
#include "common/contract/keys.h"

enum gate_kind {
    GATE_COMMAND,
    GATE_SCRATCH_BYTES, /* per lane, at most */
    GATE_SPILLS,        /* spilled registers, vector and scalar, at most */
    GATE_VGPRS,         /* per lane, at most */
    GATE_LDS_BYTES,     /* per block, static and dynamic, at most */
    GATE_MIN_OCCUPANCY, /* waves per SIMD, at least */
    GATE_MAX_REL_L2,    /* printed by a command as rel_l2, at most */
    GATE_KIND_COUNT
};

struct gate {
    enum gate_kind kind;
    const char *name;       /* default: the name of its kind */
    double limit;           /* see gate_has_limit() */
    struct command run;     /* see gate_has_command() */
    struct command objects; /* patterns of paths, templates; argc 0: resources.json */
    const char *kernel;     /* only kernels whose names match; NULL: all */
    double timeout_s;
};

extern const struct key gate_keys[];

/* allowed: placeholders that have a value. gate must be zeroed; call gate_release() even after a failure. */
int gate_read(struct gate *gate, const struct json_at *at, unsigned allowed, struct err *err);
void gate_release(struct gate *gate);

const char *gate_kind_name(enum gate_kind kind);

bool gate_has_command(enum gate_kind kind);
bool gate_has_limit(enum gate_kind kind);
/* Whether it is about kernels, so that it may have "kernel". */
bool gate_has_kernels(enum gate_kind kind);
bool gate_passes(enum gate_kind kind, double number, double limit);
