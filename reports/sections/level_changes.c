/* History: when the cells of this run changed level over earlier nightly runs. */
#include "common/base/alloc.h"
#include "reports/sections/phrase.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"
#include "reports/words/range.h"

/* The column exists only if a commit is known. */
static bool has_commits(const struct report_model *m)
{
    bool any = false;
    for (size_t i = 0; i < m->history.n_changes; i++)
        any = any || m->history.changes[i].commits.kind != RANGE_NONE;
    return any;
}

static void cell_of_commits(struct table *t, const struct commit_range *r, enum report_lang lang)
{
    AUTO(buf_release) struct buf text = {.max = PHRASE_MAX};
    range_phrase(r, lang, &text);
    table_text(t, text.len ? buf_str(&text) : NUM_NONE);
}

void section_history(const struct report_model *m, struct md *w)
{
    AUTO(table_release) struct table t = {0};
    const bool commits = has_commits(m);
    const struct md_part part = md_part_begin(w, 2, MSG_H_HISTORY);
    table_texts(&t, w->lang, MSG_COL_VARIANT);
    table_numbers(&t, w->lang, MSG_COL_CONTEXT);
    table_texts(&t, w->lang, MSG_COL_SINCE, MSG_COL_DATE);
    table_numbers(&t, w->lang, MSG_COL_BEFORE, MSG_COL_AFTER, MSG_COL_CHANGE);
    if (commits)
        table_texts(&t, w->lang, MSG_COL_COMMITS);
    for (size_t i = 0; i < m->history.n_changes; i++) {
        const struct level_change *c = &m->history.changes[i];
        table_code(&t, c->series->variant);
        table_text(&t, num_int(c->series->context).s);
        table_code(&t, c->run_id);
        table_text(&t, c->date);
        table_text(&t, metric_with_unit(c->series->metric, c->before).s);
        table_text(&t, metric_with_unit(c->series->metric, c->after).s);
        table_text(&t, num_change(c->after / c->before - 1).s);
        if (commits)
            cell_of_commits(&t, &c->commits, w->lang);
    }
    if (table_rows(&t)) {
        md_para(w, MSG_HISTORY_NOTE, num_int((int64_t)m->against->history.nights).s);
        md_table(w, &t);
    }
    md_part_end(w, &part);
}
