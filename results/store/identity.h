/* identity: what must be the same for two measurements to be of the same thing, folded to 64 bits for
 * comparing.
 *
 * 0 is "unknown" and equal to nothing. Pure.
 */
#pragma once

#include "results/store/run_data.h"

/* The GPU of a node, from the facts that name it (unique id or UUID, else serial number, else PCI address)
 * and its partition and memory mode. Known only if the facts are of one GPU: if they are of several, they do
 * not say on which a test ran. */
struct device_identity {
    char owner[RUN_FACT_MAX]; /* what the keys of the GPU begin with: "gpus0" */
    bool several;
    int rank; /* of the name in `id`: lower is better */
    char id[RUN_FACT_MAX];
    char partition[16], memory[16];
};

void device_identity_begin(struct device_identity *id);
/* Facts may come in any order; those that do not identify a GPU are ignored. */
void device_identity_add(struct device_identity *id, const struct run_fact *fact);
uint64_t device_identity_end(const struct device_identity *id);
/* If the fact is this id of a GPU, however that is written, the length of what the keys of the GPU begin with
 * ("gpus3"); else 0. */
size_t device_owner(const struct run_fact *fact, const char *id);

/* The identity of GPUs by their ids and mode, as run_test has them. */
uint64_t gpu_identity(const char *gpu, const char *mode);
/* The identity of the only GPU that the facts of a run name. */
uint64_t run_device(const struct run_data *run);
/* The identity of the test's GPUs, else of the run's only one. */
uint64_t test_device(const struct run_data *run, const struct run_test *t);
/* Folds a hexadecimal hash; "" gives 0. */
uint64_t run_identity(const char *sha256);
/* The identity of the code that a cell of this variant runs. */
uint64_t variant_code(const struct run_variant *v);
