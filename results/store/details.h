/* details: the gates of a run's variants, the files of its bundle with their hashes, the compiler's report on
 * its kernels (resources.json, verbatim), and the code identity of each kernel with what is known of its
 * code.
 *
 * Read from a bundle (results/ingest/bundle/details.h), stored and loaded with the run. Files of individual
 * tests are left out: the manifest lists them. Untrusted text is bounded here and escaped where it is
 * printed. The owner calls details_release(), also after an error.
 */
#pragma once

#include "common/contract/kernel_facts.h"
#include "results/store/run_data.h"
#include "results/store/store.h"

enum {
    DETAILS_FILES_MAX = 4096,
    DETAILS_GATES_MAX = 4096,
    DETAILS_PATH_MAX = 192,
    DETAILS_BODY_MAX = 1 << 20,
    DETAILS_KERNELS_MAX = 4096, /* of a variant */
    DETAILS_KERNEL_MAX = 16384
};

struct run_gate {
    size_t variant; /* index into the run's variants */
    char name[RUN_NAME_MAX];
    bool passed;
    char reason[RUN_REASON_MAX];
    double wall_s;
};

struct run_file {
    char path[DETAILS_PATH_MAX]; /* in the bundle */
    int64_t size;
    char sha256[SHA256_HEX_LEN + 1];
    char *body; /* of a resources.json, and of a BLOCKED run's summary.json, else NULL */
};

/* The code identity of a kernel. */
struct run_kernel_code {
    size_t variant; /* index into the run's variants */
    char *name;     /* owned; as in the symbol table */
    char sha256[SHA256_HEX_LEN + 1];
    struct kernel_facts facts; /* not known of every build */
};

struct run_details {
    struct run_gate *gates; /* by variant, in execution order */
    size_t n_gates;
    struct run_file *files; /* by path */
    size_t n_files;
    struct run_kernel_code *kernels; /* by variant and name */
    size_t n_kernels, cap_kernels;
};

/* Called inside the caller's transaction. */
int details_store(struct store *s, int64_t run_key, const struct run_details *d, struct err *err);
int details_load(struct store *s, int64_t run_key, struct run_details *out, struct err *err);
/* Loads the kernels only. */
int details_load_kernels(struct store *s, int64_t run_key, struct run_details *out, struct err *err);
void details_release(struct run_details *d);

/* NULL if there is none. */
const struct run_file *details_file(const struct run_details *d, const char *path);
