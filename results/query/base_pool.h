/* base_pool: the repetitions of all runs of a baseline, as those of one run to compare with.
 *
 * Once enough nights tell the baseline's level, only the cells that its newest run lacks are taken from
 * others: it was narrowed, or they failed in it. A cell that the base carried has the value of the run that
 * measured it last, as it would have run exactly the same.
 */
#pragma once

#include "results/store/run_data.h"
#include "results/store/store.h"

struct base_pool_request {
    const struct run_data *base; /* the newest run */
    const int64_t *runs;         /* of the baseline: rows of the store */
    size_t n_runs;
    const struct run_data *now; /* not one of them, though it may be listed */
    bool gaps_only;             /* add nothing to what is OK in the newest run */
    bool carried_only; /* add only what it carried, each cell from the first of the runs that has it */
};

/* Lists the runs that measured last what the base carried, the newest first. The caller frees *runs. */
int base_pool_carried(struct store *s, const struct run_data *base, int64_t **runs, size_t *n_runs,
                      struct err *err);

/* *out is the base with what the other runs measured. The owner calls run_data_release(). */
int base_pool(struct store *s, const struct base_pool_request *r, struct run_data *out, struct err *err);
