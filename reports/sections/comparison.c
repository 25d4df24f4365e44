/* What changed since the base: a verdict a cell with its evidence, and what else differs between the sides.
 */
#include "reports/sections/section.h"
#include "reports/words/number.h"

static void facts(const struct report_model *m, struct md *w)
{
    const struct comparison *c = &m->comparison;
    struct table t;
    if (c->n_facts == 0)
        return;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_FACT), false);
    table_column(&t, message(w->lang, MSG_COL_BASE_SIDE), false);
    table_column(&t, message(w->lang, MSG_COL_NOW_SIDE), false);
    for (size_t i = 0; i < c->n_facts; i++) {
        table_code(&t, c->facts[i].key);
        table_code(&t, c->facts[i].base);
        table_code(&t, c->facts[i].now);
    }
    md_heading(w, 3, MSG_H_DIFFERENCES);
    md_para(w, MSG_DIFFERENCES_NOTE);
    md_table(w, &t);
    table_release(&t);
}

static void head(const struct report_model *m, struct md *w)
{
    const struct run_info *b = &m->against.base.info;
    if (!m->against.has_base)
        md_para(w, MSG_COMPARED_WITH_NIGHTS, num_int((int64_t)m->against.history.nights).s);
    else if (*m->baseline)
        md_para(w, MSG_COMPARED_WITH_BASELINE, m->baseline, b->run_id, b->date);
    else
        md_para(w, MSG_COMPARED_WITH_RUN, b->run_id, b->date);
}

void section_baseline(const struct report_model *m, struct md *w)
{
    struct table t;
    if (m->base_is_now) {
        md_heading(w, 2, MSG_H_COMPARISON);
        md_para(w, MSG_BASE_IS_NOW);
    }
    if (!m->has_comparison)
        return;
    table_init(&t);
    table_comparison(&t, &m->comparison, m->kernels_alone, w->lang);
    md_heading(w, 2,
               *m->baseline          ? MSG_H_COMPARISON
               : m->against.has_base ? MSG_H_COMPARISON_RUN
                                     : MSG_H_COMPARISON_NIGHTS);
    head(m, w);
    md_table(w, &t);
    if (m->comparison.tested)
        md_para(w, MSG_TESTED_CELLS, num_int((int64_t)m->comparison.tested).s,
                num_percent(m->against.options.fdr).s);
    table_release(&t);
    facts(m, w);
}
