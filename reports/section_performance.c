/* Performance: the summary a context, the consolidated comparison of variants, and how they stand to each
 * other. */
#include "reports/number.h"
#include "reports/section.h"

#include <math.h>

void section_performance(const struct report_model *m, struct md *w)
{
    struct table t;
    if (m->now.n_cells == 0)
        return;
    table_init(&t);
    table_performance(&t, &m->now, m->metric, w->lang);
    md_heading(w, 2, MSG_H_PERFORMANCE);
    md_table(w, &t);
    if (m->metric == METRIC_PREFILL_S)
        md_para(w, MSG_PERFORMANCE_NOTE);
    table_release(&t);
}

void section_consolidated(const struct report_model *m, struct md *w)
{
    struct variant_view view = report_model_view(m);
    struct table t;
    if (m->now.n_variants < 2)
        return;
    table_init(&t);
    table_consolidated(&t, &view, w->lang);
    md_heading(w, 2, MSG_H_CONSOLIDATED);
    md_table(w, &t);
    section_figure(m, w, PLOT_SPEEDUP);
    md_para(w, MSG_CONSOLIDATED_NOTE, report_model_reference(m),
            num_percent(compare_defaults().regression).s);
    table_release(&t);
}

static void speedup_rows(const struct report_model *m, size_t earlier, size_t later, struct table *t)
{
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (c->variant != later)
            continue;
        struct variant_delta d = compare_pair(&m->now, later, earlier, c->context, m->metric);
        if (!isfinite(d.factor) || d.reference == later)
            continue;
        table_code(t, m->now.variants[later].name);
        table_code(t, m->now.variants[d.reference].name);
        table_text(t, num_int(c->context).s);
        table_text(t, num_factor_error(d.factor, d.factor_error).s);
    }
}

/* Each variant against the one the plan lists before it; the reference has its own table. */
void section_speedup(const struct report_model *m, struct md *w)
{
    struct table t;
    size_t earlier = m->reference;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_VARIANT), false);
    table_column(&t, message(w->lang, MSG_COL_AGAINST), false);
    table_column(&t, message(w->lang, MSG_COL_CONTEXT), true);
    table_column(&t, message(w->lang, MSG_COL_SPEEDUP), true);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        if (v == m->reference)
            continue;
        if (earlier != m->reference)
            speedup_rows(m, earlier, v, &t);
        earlier = v;
    }
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_SPEEDUP);
        md_table(w, &t);
    }
    table_release(&t);
}
