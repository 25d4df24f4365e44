/* tables: the tables that both a document and a terminal show, filled from loaded results.
 *
 * Each function fills an initialised struct table; the caller writes and releases it. Titles and words come
 * from the catalogue. Nothing here computes statistics: verdicts, factors and fits come in as arguments.
 */
#ifndef KERNSWEEP_REPORTS_RENDER_TABLES_H
#define KERNSWEEP_REPORTS_RENDER_TABLES_H

#include "reports/render/message.h"
#include "reports/render/table.h"
#include "results/judge/compare.h"
#include "results/judge/scaling.h"
#include "results/judge/within.h"

/* vs: one row per cell of the run, as compare_variants() gives. */
struct variant_view {
    const struct run_data *run;
    size_t reference;
    const struct variant_delta *vs;
    size_t count;
    enum metric metric; /* what the variants are compared by */
    bool kernels;       /* of kernels alone: their time is read in milliseconds */
};

/* How a cell stands against the reference variant. */
enum standing {
    STANDING_REFERENCE,
    STANDING_FAST,
    STANDING_SAME,
    STANDING_SLOW,
    STANDING_NOT_OK,
    STANDING_NONE
};
enum standing standing_of(const struct cell *c, const struct variant_delta *d);

/* Context, Variant, Kernel name, Prefill (s) or what decides in its place, vs Baseline, Status. */
void table_consolidated(struct table *t, const struct variant_view *v, enum report_lang lang);
/* Context, Variant, prefill_s, wall_time_s, attn_impl, Throughput (tok/s), Status. */
void table_performance(struct table *t, const struct variant_view *v, enum report_lang lang);
/* Variant, Context, Prefill (s), tok/s, Factor, Expected, Step, Step expected, Flag: of the variants that
 * were measured at more than one context. */
void table_scaling(struct table *t, const struct run_data *run, const struct scaling_set *set, bool kernels,
                   enum report_lang lang);
/* Context, Variant, base, now, factor, change, Verdict, Evidence; and the metric when there are several. */
void table_comparison(struct table *t, const struct comparison *c, bool kernels, enum report_lang lang);

/* A step whose time grows this much more than n^2 is flagged. */
#define SCALING_TOLERANCE 0.10
bool scaling_flagged(const struct scaling_row *row);
/* Whether any variant was measured at more than one context. */
bool scaling_has_steps(const struct scaling_set *set);

/* As its unit is read: 22.77, 1.5 GiB, 180. */
struct num metric_text(enum metric m, double v);
/* Likewise; kernels: a prefill time in milliseconds. */
struct num metric_time(enum metric m, bool kernels, double v);
/* "22.77 s", "1.5 GiB", "180 tok/s" */
struct num metric_with_unit(enum metric m, double v);

const char *verdict_word(enum verdict v, enum report_lang lang);
/* Appends what a verdict rests on: counts, method, thresholds, warnings. */
void verdict_evidence(const struct delta *d, enum report_lang lang, struct buf *out);
/* What now stands against: the base's median, or that of the nights before. */
double verdict_reference(const struct delta *d);
/* "OK", or the status and how many of the repetitions were OK. */
struct num cell_status(const struct cell *c);
/* Order of a document's tables: by context, then as the plan lists the variants. *order is to be free()d. */
int cells_by_context(const struct run_data *run, size_t **order);

#endif
