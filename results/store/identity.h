/* identity: what must be the same for two measurements to be of the same thing, folded to 64 bits for
 * comparing.
 *
 * 0 is "unknown" and equal to nothing. Pure.
 */
#ifndef KERNSWEEP_RESULTS_STORE_IDENTITY_H
#define KERNSWEEP_RESULTS_STORE_IDENTITY_H

#include "results/store/run_data.h"

/* The GPUs of a run, from the facts that name them (unique id, UUID, serial number), added in order of keys.
 */
struct device_identity {
    struct sha256 hash;
    bool known;
};

void device_identity_begin(struct device_identity *id);
/* Facts that do not identify a GPU are ignored. */
void device_identity_add(struct device_identity *id, const struct run_fact *fact);
uint64_t device_identity_end(struct device_identity *id);

/* Of all facts of a run. */
uint64_t run_device(const struct run_data *run);
/* Of a hexadecimal hash; 0 for "". */
uint64_t run_identity(const char *sha256);
/* Of the code that a cell of this variant runs. */
uint64_t variant_code(const struct run_variant *v);

#endif
