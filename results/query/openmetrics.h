/* openmetrics: stored medians in the text format of OpenMetrics 1.0, for Prometheus and what reads the same.
 *
 * One gauge per metric, "kernsweep_prefill_seconds", with the labels ticket, node, mode, variant and context.
 * A single run has no timestamps, as a textfile collector or a push gateway wants it; all runs have them,
 * oldest first, for backfilling. Only nights contribute to the latter (history_load.h). Errors: as export.h.
 */
#pragma once

#include "results/query/export.h"

/* run_key 0: all nights of all plans. */
int openmetrics_export(struct store *s, int64_t run_key, export_sink *sink, void *arg, struct err *err);
