/* history_load: loads the nights of a plan's cells from the store. Only COMPLETE runs and counted OK
 * repetitions contribute; of what was sampled, those that were sampled as in `before`. Errors: ERR_STORAGE.
 */
#pragma once

#include "results/judge/nights/history.h"
#include "results/query/history_runs.h"

int history_load(struct store *s, const struct history_options *o, struct history *out, struct err *err);
/* The nights for judging `run`: of the same node, ticket, mode and tag, and older; with those around the runs
 * of its base (keep). */
int history_for_run(struct store *s, const struct run_info *run, const int64_t *keep, size_t n_keep,
                    enum metric metric, bool all_metrics, struct history *out, struct err *err);
