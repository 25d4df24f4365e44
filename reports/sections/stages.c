/* Stages: prefill time of a model by stage. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <math.h>

static void add_row(const struct report_model *m, const struct stage_row *r, struct table *t)
{
    double all = r->gemm_s + r->attention_s + r->other_s;
    table_text(t, num_int(r->cell->context).s);
    table_code(t, m->now.variants[r->cell->variant].name);
    table_text(t, num_seconds(r->gemm_s).s);
    table_text(t, num_seconds(r->attention_s).s);
    table_text(t, num_seconds(r->other_s).s);
    table_text(t, num_percent(r->attention_s / all).s);
    table_text(t, num_percent(r->roofline_share > SHARE_OVER ? (double)NAN : r->roofline_share).s);
}

void section_stages(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    bool over = false;
    if (m->kernel.n_stages == 0)
        return;
    table_numbers(&t, w->lang, MSG_COL_CONTEXT);
    table_texts(&t, w->lang, MSG_COL_VARIANT);
    table_numbers(&t, w->lang, MSG_COL_PRODUCTS, MSG_COL_ATTENTION, MSG_COL_REST, MSG_COL_ATTENTION_SHARE,
                  MSG_COL_ROOFLINE);
    for (size_t i = 0; i < m->kernel.n_stages; i++) {
        add_row(m, &m->kernel.stages[i], &t);
        over |= m->kernel.stages[i].roofline_share > SHARE_OVER;
    }
    md_heading(w, 2, MSG_H_STAGES);
    md_table(w, &t);
    md_say(w, MSG_STAGES_NOTE);
    if (over)
        md_say(w, MSG_ROOFLINE_OVER);
    md_end(w);
}
