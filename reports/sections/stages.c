/* Stages: prefill time of a model by stage. */
#include "reports/sections/section.h"
#include "reports/words/number.h"

static void add_row(const struct report_model *m, const struct stage_row *r, struct table *t)
{
    double all = r->gemm_s + r->attention_s + r->other_s;
    table_text(t, num_int(r->cell->context).s);
    table_code(t, m->now.variants[r->cell->variant].name);
    table_text(t, num_seconds(r->gemm_s).s);
    table_text(t, num_seconds(r->attention_s).s);
    table_text(t, num_seconds(r->other_s).s);
    table_text(t, num_percent(r->attention_s / all).s);
    table_text(t, num_percent(r->roofline_share).s);
}

void section_stages(const struct report_model *m, struct md *w)
{
    struct table t;
    if (m->kernel.n_stages == 0)
        return;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_CONTEXT), true);
    table_column(&t, message(w->lang, MSG_COL_VARIANT), false);
    table_column(&t, message(w->lang, MSG_COL_PRODUCTS), true);
    table_column(&t, message(w->lang, MSG_COL_ATTENTION), true);
    table_column(&t, message(w->lang, MSG_COL_REST), true);
    table_column(&t, message(w->lang, MSG_COL_ATTENTION_SHARE), true);
    table_column(&t, message(w->lang, MSG_COL_ROOFLINE), true);
    for (size_t i = 0; i < m->kernel.n_stages; i++)
        add_row(m, &m->kernel.stages[i], &t);
    md_heading(w, 2, MSG_H_STAGES);
    md_table(w, &t);
    md_para(w, MSG_STAGES_NOTE);
    table_release(&t);
}
