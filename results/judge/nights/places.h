/* places: the GPUs that a cell of a run was measured on. Pure. */
#pragma once

#include "results/store/run_data.h"

enum { PLACES_MAX = 64 };

struct places {
    uint64_t device[PLACES_MAX]; /* sorted; a single 0 if the GPU of any of the cell's tests is unknown */
    size_t count;                /* at least 1 */
};

/* c may be NULL: unknown. */
void places_of(const struct run_data *run, const struct cell *c, enum metric m, struct places *out);
bool places_have(const struct places *p, uint64_t device);
/* As run_data_values(), of one GPU; 0: of all. */
size_t places_values(const struct run_data *run, const struct cell *c, enum metric m, uint64_t device,
                     double *out);
/* The id of the GPU as a test of the cell has it, "" if none does. */
const char *places_name(const struct run_data *run, const struct cell *c, uint64_t device);
