/* measure: a run that a command needs for its own purpose (noise, confirm), from the plan to the store in one
 * call.
 *
 * No baseline, no report. The run is tagged, and its record names a plan that no nightly would resume.
 * Errors: as session.h and ingest.h.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_MEASURE_H
#define KERNSWEEP_HARNESS_SESSION_MEASURE_H

#include "harness/session/session.h"
#include "results/store/store.h"

/* The plan's name in the records of such a run. The caller free()s; NULL without memory. */
char *measure_plan_name(const char *plan, const char *purpose);

/* Changes p->file: the run must not count as one of the plan's nights. */
int measure_run(struct plan *p, const struct session_options *opt, struct store *store, int64_t *key,
                struct err *err);

/* Completes what a killed command left behind when it measured this plan for this purpose: fetches and stores
 * the run, so that the node is free. plan: its file. */
int measure_settle(const char *db, const char *plan, const char *purpose, const struct session_options *opt,
                   struct err *err);

#endif
