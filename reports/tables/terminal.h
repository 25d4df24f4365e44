/* terminal: the tables that commands print, in English: aligned with spaces, and safe to print whatever names
 * the run holds. screen: what it is printed on, with colours on verdicts and statuses or without. kernels:
 * the run launched kernels alone (results/query/report_queries.h), so that its times are not a prompt's. What
 * exceeds `out` is its owner's to see (buf_ok()).
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "reports/render/table.h"
#include "results/judge/compare.h"
#include "results/judge/counter_changes.h"
#include "results/judge/standings.h"

/* A finished run: Context, Variant, Kernel name, its primary metric, vs Baseline, Status. */
void terminal_run(const struct run_data *run, size_t reference, bool kernels, struct screen screen,
                  struct buf *out);
/* What a run did not measure, as nothing changed that it depends on: a line for each date on which it was. */
void terminal_carried(const struct run_carried *cells, size_t count, struct buf *out);
/* The same of a run in which each test ran once, to see whether it works: variants are not compared. */
void terminal_single_shots(const struct run_data *run, bool kernels, struct screen screen, struct buf *out);
/* The metrics that are not built in, but for the primary one. Nothing when there are none. */
void terminal_own_metrics(const struct run_data *run, struct screen screen, struct buf *out);
/* What the GPU did while each cell was measured. Nothing where nothing of it is known. */
void terminal_activity(const struct run_data *run, struct screen screen, struct buf *out);
/* The scaling table: factor against the smallest context, expected, exponent. Nothing when no variant was
 * measured at more than one context. */
void terminal_scaling(const struct run_data *run, bool kernels, struct screen screen, struct buf *out);
/* A comparison of two runs: one row per cell with its verdict and the evidence, then changed facts, then the
 * number of cells per verdict, then why cells changed. */
void terminal_comparison(const struct comparison *c, bool kernels, struct screen screen, struct buf *out);
/* The counters that differ most. Nothing if none does. */
void terminal_counters(const struct counter_changes *c, struct buf *out);
/* The machines or GPUs that shared a run: one row each, slow ones marked; then a sentence for each of
 * the cards that changed by themselves since the nights before. */
void terminal_standings(enum place_kind by, const struct place_standing *places, size_t count,
                        const struct comparison *since, struct screen screen, struct buf *out);
