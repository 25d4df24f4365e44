/* measure: a run that a command needs for a question of its own (noise, confirm): from the plan into the
 * store, in one call.
 *
 * No baseline, no report. The run is tagged and its record names no plan that a nightly would pick up.
 * Errors: as session.h and ingest.h.
 */
#ifndef KERNSWEEP_HARNESS_MEASURE_H
#define KERNSWEEP_HARNESS_MEASURE_H

#include "harness/session.h"
#include "results/store.h"

/* p->file is changed: what is measured for a question is not the plan's own night. */
int measure_run(struct plan *p, const struct session_options *opt, struct store *store, int64_t *key,
                struct err *err);

#endif
