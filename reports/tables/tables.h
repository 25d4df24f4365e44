/* tables: the tables that both a document and a terminal show, filled from loaded results.
 *
 * Each function fills an initialised struct table; the caller writes and releases it. Titles and words come
 * from the message catalogue. Nothing here computes statistics: verdicts, factors and fits come in as
 * arguments.
 */
#pragma once

#include "reports/model/view.h"
#include "reports/render/table.h"
#include "reports/words/quantity.h"
#include "reports/words/reason.h"
#include "results/judge/counter_changes.h"

/* The variants of one run compared with one of them. Borrowed. */
struct variant_view {
    const struct run_data *run;
    size_t reference;
    const struct variant_delta
        *vs; /* one per cell of the run, from compare_variants(); NULL: variants are not compared */
    size_t count;
    struct quantity primary; /* what the variants are compared by */
};

/* Whether any of them compares different work. */
bool variants_unlike(const struct variant_delta *vs, size_t n);
/* Whether any of them compares two GPUs. */
bool variants_apart(const struct variant_delta *vs, size_t n);
/* Whether the least difference of the metric hides how any of them differ. */
bool variants_hidden(const struct variant_delta *vs, size_t n);
/* Context, Variant, Kernel name, Prefill (s) or the primary metric, vs Baseline, Status. */
void table_consolidated(struct table *t, const struct variant_view *v, enum report_lang lang);
/* Context, Variant, and a column for each metric that is not built in and was measured, except the primary
 * one, of the cells with results: part 0 has the first such metrics. False if the part has none. */
bool table_own_metrics(struct table *t, const struct run_data *run, enum metric primary, size_t part,
                       enum report_lang lang);
/* Context, Variant, prefill_s, wall_time_s, attn_impl, Throughput (tok/s), Status. */
void table_performance(struct table *t, const struct variant_view *v, enum report_lang lang);
/* Variant, Context, Prefill (s), tok/s, Factor, Expected, Step, Step expected, Flag: of the variants that
 * were measured at more than one context. */
void table_scaling(struct table *t, const struct run_data *run, const struct scaling_set *set,
                   const struct quantity *primary, enum report_lang lang);
/* Context, Variant, base (as it was measured), expected (where it is not the base), now, factor, change,
 * Verdict, Evidence; and the metric when there are several. primary: of c->primary. */
void table_comparison(struct table *t, const struct comparison *c, const struct quantity *primary,
                      enum report_lang lang);
/* Facts that differ between the two runs. No rows if there are none. */
void table_facts(struct table *t, const struct comparison *c, enum report_lang lang);

/* Variant, Context, Kernel name, Counter, Base, Now, Change: the counters that differ most. No rows if none
 * does. */
void table_counters(struct table *t, const struct counter_changes *c, enum report_lang lang);

/* "2 regressed, 17 unchanged" */
void verdict_counts(const struct comparison *c, enum report_lang lang, struct buf *out);
/* Appends that the runs are of different tickets, if they are: a mistyped run id would otherwise show as many
 * changes. */
void verdict_tickets(const struct comparison *c, enum report_lang lang, struct buf *out);
/* What the new value is compared with: what was expected of it by the base or by earlier nights, with what
 * all cells or those of its GPU have in common; else the median of the base. */
double verdict_reference(const struct delta *d);
/* "OK", or the status and how many of the repetitions were OK. */
struct num cell_status(const struct cell *c);
