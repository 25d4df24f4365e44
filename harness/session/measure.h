/* measure: makes a run for a special purpose (noise, confirm, ...), from plan to store in one call,
 * without baseline or report.
 *
 * The run's purpose comes from the options and is also the tag of its folder. Its record names a plan that
 * nightly runs never resume. Errors: as in session.h and ingest.h.
 */
#pragma once

#include "harness/session/session.h"
#include "results/store/run_data.h"
#include "results/store/store.h"

/* Purposes of runs that answer one question and are not needed afterwards. */
enum { MEASURE_PURPOSES = 4 };
extern const enum run_purpose measure_purposes[MEASURE_PURPOSES];

/* The plan name in the records of such a run. The caller free()s it. */
char *measure_plan_name(const char *plan, enum run_purpose purpose);

/* Changes p->file, so that the run is no nightly run of the plan. opt->purpose must not be PURPOSE_SWEEP. */
int measure_run(struct plan *p, const struct session_options *opt, struct store *store, int64_t *key,
                struct err *err);

/* ERR_NODE if the run was refused by the node or cancelled, and so measured nothing. */
int measure_check_ran(const struct run_info *r, struct err *err);

/* Completes the run that an interrupted command of this purpose left behind: pulls and stores it, which
 * frees the node. plan: its file; node: NULL for any. */
int measure_settle(const char *plan, const char *node, enum run_purpose purpose,
                   const struct session_options *opt, struct err *err);
/* The same for all of measure_purposes. */
int measure_settle_all(const char *plan, const char *node, const struct session_options *opt,
                       struct err *err);
