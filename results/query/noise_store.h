/* noise_store: the stored noise of a plan's cells, from the newest A/A sweep. Errors: ERR_STORAGE. */
#ifndef KERNSWEEP_RESULTS_QUERY_NOISE_STORE_H
#define KERNSWEEP_RESULTS_QUERY_NOISE_STORE_H

#include "results/judge/noise.h"
#include "results/store/store.h"

/* For the node, ticket and mode of `run`. */
int noise_save(struct store *s, const struct run_info *run, const struct noise *n, struct err *err);
int noise_load(struct store *s, const struct run_info *run, struct noise *out, struct err *err);

#endif
