/* Comparison: a verdict per cell with its evidence, and other differences between the runs. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/tables/shift.h"
#include "reports/tables/tables.h"
#include "reports/words/number.h"

enum { SHIFT_TEXT_MAX = 4096 };

static void write_differences(const struct report_model *m, struct md *w)
{
    const struct comparison *c = m->comparison;
    AUTO(table_release) struct table t = {0};
    if (c->n_facts == 0)
        return;
    table_facts(&t, c, w->lang);
    md_heading(w, 3, MSG_H_DIFFERENCES);
    md_para(w, MSG_DIFFERENCES_NOTE);
    md_table(w, &t);
}

/* If the base measured something else, a metric that both have decides. */
static struct quantity quantity_compared(const struct report_model *m)
{
    enum metric compared = m->comparison->primary;
    return compared == m->primary.metric ? m->primary : quantity_of(compared, false);
}

static enum msg heading_of(const struct report_model *m)
{
    if (*m->base.name)
        return MSG_H_COMPARISON;
    return m->against->has_base ? MSG_H_COMPARISON_RUN : MSG_H_COMPARISON_NIGHTS;
}

static void write_base(const struct report_model *m, struct md *w)
{
    const struct run_info *b = &m->against->base.info;
    md_heading(w, 2, heading_of(m));
    if (!m->against->has_base)
        md_para(w, MSG_COMPARED_WITH_NIGHTS, num_int((int64_t)m->against->history.nights).s);
    else if (*m->base.name)
        md_para(w, MSG_COMPARED_WITH_BASELINE, m->base.name, b->run_id, b->date);
    else
        md_para(w, MSG_COMPARED_WITH_RUN, b->run_id, b->date);
}

static void write_tickets(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf text = {.max = SHIFT_TEXT_MAX};
    verdict_tickets(m->comparison, w->lang, &text);
    if (text.len) {
        md_text(w, buf_str(&text));
        md_line(w);
        md_end(w);
    }
}

static void write_shift(const struct report_model *m, struct md *w)
{
    AUTO(buf_release) struct buf text = {.max = SHIFT_TEXT_MAX};
    verdict_shift(m->comparison, w->lang, &text);
    if (text.len) {
        md_text(w, buf_str(&text));
        md_end(w);
    }
    cards_paragraphs(m->comparison, w);
}

/* No p of few values survives an adjustment for many cells, so these are judged without it. */
static void write_tested(const struct report_model *m, struct md *w)
{
    const struct comparison *c = m->comparison;
    size_t alone = 0;
    for (size_t i = 0; i < c->count; i++)
        alone += c->deltas[i].metric == c->primary && c->deltas[i].doubts.unadjusted;
    if (c->tested > alone)
        md_para(w, MSG_TESTED_CELLS, num_int((int64_t)(c->tested - alone)).s,
                num_percent(m->against->options.fdr).s);
    if (alone)
        md_para(w, MSG_TESTED_ALONE, num_int((int64_t)alone).s);
}

void section_baseline(const struct report_model *m, struct md *w)
{
    const struct quantity primary = quantity_compared(m);
    AUTO(table_release) struct table t = {0};
    if (m->base.is_now) {
        md_heading(w, 2, MSG_H_COMPARISON);
        md_para(w, MSG_BASE_IS_NOW);
    }
    if (!m->has_comparison)
        return;
    table_comparison(&t, m->comparison, &primary, w->lang);
    write_base(m, w);
    write_tickets(m, w);
    write_shift(m, w);
    md_table(w, &t);
    write_tested(m, w);
    write_differences(m, w);
}
