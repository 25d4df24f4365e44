/* counting: has a profiler count on the node what the plan's "counters" name, of one build: a short run of
 * the cells in question, each with one test, after which the executor profiles them (executor/run/profile.h).
 * Its times mean nothing, so it is a run that confirms, not a night.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_COUNTING_H
#define KERNSWEEP_HARNESS_SESSION_COUNTING_H

#include "harness/session/session.h"
#include "results/judge/confirm.h"
#include "results/store/store.h"

/* plan: its file. source: hash of the build's tree, "" for a run without one. Stores the run. Errors: as
 * measure.h. */
int counting_measure(const char *plan, const struct suspect_list *cells, const char *source,
                     const struct session_options *options, struct store *store, struct err *err);

#endif
