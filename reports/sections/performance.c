/* Performance: the summary per context, the consolidated comparison of variants, and pairs of variants. */
#include "common/base/alloc.h"
#include "reports/model/insight.h"
#include "reports/sections/section.h"
#include "reports/tables/tables.h"
#include "reports/words/number.h"

#include <math.h>

static struct variant_view view_of(const struct report_model *m)
{
    return (struct variant_view){
        .run = &m->now, .reference = m->reference, .vs = m->vs, .count = m->n_vs, .primary = m->primary};
}

void section_performance(const struct report_model *m, struct md *w)
{
    const struct variant_view view = view_of(m);
    AUTO(table_release) struct table t = {0};
    if (m->now.n_cells == 0)
        return;
    table_performance(&t, &view, w->lang);
    md_heading(w, 2, MSG_H_PERFORMANCE);
    md_table(w, &t);
    if (m->primary.prompt)
        md_para(w, MSG_PERFORMANCE_NOTE);
}

void section_own_metrics(const struct report_model *m, struct md *w)
{
    bool any = true;
    for (size_t part = 0; any; part++) {
        AUTO(table_release) struct table t = {0};
        any = table_own_metrics(&t, &m->now, m->primary.metric, part, w->lang);
        if (table_rows(&t) && part == 0)
            md_heading(w, 2, MSG_H_OWN_METRICS);
        if (table_rows(&t))
            md_table(w, &t);
    }
}

void section_consolidated(const struct report_model *m, struct md *w)
{
    const struct variant_view view = view_of(m);
    AUTO(table_release) struct table t = {0};
    if (m->now.n_variants < 2)
        return;
    table_consolidated(&t, &view, w->lang);
    md_heading(w, 2, MSG_H_CONSOLIDATED);
    md_table(w, &t);
    md_para(w, metric_is_speed(m->primary.metric) ? MSG_CONSOLIDATED_NOTE : MSG_CONSOLIDATED_NOTE_OTHER,
            report_model_reference(m), num_percent(compare_defaults().regression).s);
    if (variants_apart(m->vs, m->n_vs))
        md_para(w, MSG_VARIANTS_APART, num_percent(WITHIN_APART).s);
    if (variants_hidden(m->vs, m->n_vs))
        md_para(w, MSG_VARIANTS_HIDDEN, metric_least(m->primary.metric).s);
}

static void speedup_row(const struct report_model *m, const struct cell *c, size_t other, struct table *t)
{
    struct variant_delta d = compare_pair(&m->now, c->variant, other, c->context, m->primary.metric);
    if (!isfinite(d.factor) || d.reference == c->variant)
        return;
    table_code(t, m->now.variants[c->variant].name);
    table_code(t, m->now.variants[d.reference].name);
    table_text(t, num_int(c->context).s);
    table_text(t, num_factor_error(d.factor, d.factor_error).s);
}

/* Compares one variant with an earlier one, at every context and shape. */
static void speedup_rows(const struct report_model *m, size_t later, size_t earlier, struct table *t)
{
    for (size_t i = 0; i < m->now.n_cells; i++)
        if (report_model_same(m, m->now.cells[i].variant, later))
            speedup_row(m, &m->now.cells[i], earlier, t);
}

static const struct cell *fastest_at_last(const struct report_model *m)
{
    const struct cell *best = NULL;
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (isfinite(c->median[m->primary.metric]) && !m->vs[i].unlike &&
            (!best || c->context > best->context ||
             (c->context == best->context && c->median[m->primary.metric] < best->median[m->primary.metric])))
            best = c;
    }
    return best;
}

/* Compares pairs without the reference, which has its own table. If there are many variants, each is compared
 * only with the fastest one, at the largest context. */
void section_speedup(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    size_t first[INSIGHT_PAIRS_OF_MAX], n = insight_others(m, first, INSIGHT_PAIRS_OF_MAX);
    const struct cell *best = fastest_at_last(m);
    int last = best && best->variant != m->reference ? best->context : -1;
    table_texts(&t, w->lang, MSG_COL_VARIANT, MSG_COL_AGAINST);
    table_numbers(&t, w->lang, MSG_COL_CONTEXT, MSG_COL_SPEEDUP);
    for (size_t i = 1; n <= INSIGHT_PAIRS_OF_MAX && i < n; i++)
        for (size_t k = 0; k < i; k++)
            speedup_rows(m, first[i], first[k], &t);
    for (size_t i = 0; n > INSIGHT_PAIRS_OF_MAX && last >= 0 && i < m->now.n_cells; i++)
        if (m->now.cells[i].context == last)
            speedup_row(m, &m->now.cells[i], best->variant, &t);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_SPEEDUP);
        md_table(w, &t);
    }
}
