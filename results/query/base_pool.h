/* base_pool: the repetitions of all runs of a baseline, as those of one run: what a run is compared with
 * while there are too few nights to say what the baseline's level is.
 */
#ifndef KERNSWEEP_RESULTS_QUERY_BASE_POOL_H
#define KERNSWEEP_RESULTS_QUERY_BASE_POOL_H

#include "results/store/run_data.h"
#include "results/store/store.h"

/* *out is the base, with the measurements that the other runs have of its cells; the run `now` (a row of the
 * store) is not one of them. The owner calls run_data_release(). */
int base_pool(struct store *s, const struct run_data *base, const int64_t *runs, size_t n_runs, int64_t now,
              struct run_data *out, struct err *err);

#endif
