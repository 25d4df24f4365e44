/* measure: a run for a special purpose (noise, confirm ...), from plan to store in one call, without baseline
 * or report.
 *
 * The run has the purpose that the options name, which is also the tag of its folder, and its record names a
 * plan that nightly runs never resume. Errors: as in session.h and ingest.h.
 */
#pragma once

#include "harness/session/session.h"
#include "results/store/run_data.h"
#include "results/store/store.h"

/* The purposes of runs that answer one question and are not needed afterwards. */
enum { MEASURE_PURPOSES = 4 };
extern const enum run_purpose measure_purposes[MEASURE_PURPOSES];

/* The plan's name in the records of such a run. The caller free()s it. */
char *measure_plan_name(const char *plan, enum run_purpose purpose);

/* opt->purpose: not PURPOSE_SWEEP. Changes p->file, so that the run does not count as a nightly run of the
 * plan. */
int measure_run(struct plan *p, const struct session_options *opt, struct store *store, int64_t *key,
                struct err *err);

/* ERR_NODE for a run that the node refused, or that somebody cancelled: it measured nothing. */
int measure_check_ran(const struct run_info *r, struct err *err);

/* Completes the run that an interrupted command with this purpose left behind: pulls and stores it, so that
 * the node is free. plan: its file. node: where; NULL: anywhere. */
int measure_settle(const char *plan, const char *node, enum run_purpose purpose,
                   const struct session_options *opt, struct err *err);
/* The same for all of measure_purposes. */
int measure_settle_all(const char *plan, const char *node, const struct session_options *opt,
                       struct err *err);
