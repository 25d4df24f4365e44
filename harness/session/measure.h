/* measure: a run that a command needs for a question of its own (noise, confirm): from the plan into the
 * store, in one call.
 *
 * No baseline, no report. The run is tagged and its record names no plan that a nightly would pick up.
 * Errors: as session.h and ingest.h.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_MEASURE_H
#define KERNSWEEP_HARNESS_SESSION_MEASURE_H

#include "harness/session/session.h"
#include "results/store/store.h"

/* What records name as the plan of such a run. The caller free()s; NULL without memory. */
char *measure_plan_name(const char *plan, const char *purpose);

/* p->file is changed: what is measured for a question is not the plan's own night. */
int measure_run(struct plan *p, const struct session_options *opt, struct store *store, int64_t *key,
                struct err *err);

/* Ends what a killed command left of measuring this plan for this purpose: fetches and stores the run that is
 * on its node still, or was. Nobody waits for its numbers; but the node is free then. plan: its file. */
int measure_settle(const char *db, const char *plan, const char *purpose, const struct session_options *opt,
                   struct err *err);

#endif
