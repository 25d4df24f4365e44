/* Cost: what this run and its ticket have cost, from the plan's price of an hour. */
#include "reports/number.h"
#include "reports/section.h"

#include <math.h>

static double cost_of(const struct cost_row *r)
{
    return r->wall_s * r->per_hour / 3600;
}

static void add_row(struct table *t, const struct cost_row *r)
{
    struct buf result;
    buf_init(&result, 256);
    buf_printf(&result, "%s, %d/%d OK", run_status_name(r->status), r->ok, r->tests);
    table_code(t, r->run_id);
    table_text(t, r->date);
    table_text(t, num_duration(r->wall_s).s);
    table_text(t, num_money(cost_of(r), r->currency).s);
    table_text(t, buf_str(&result));
    buf_release(&result);
}

void section_cost(const struct report_model *m, struct md *w)
{
    const struct cost_list *l = &m->costs;
    if (l->count == 0 || !isfinite(cost_of(&l->rows[l->count - 1])))
        return;
    const struct cost_row *own = &l->rows[l->count - 1];
    struct table t;
    table_init(&t);
    table_column(&t, message(w->lang, MSG_COL_RUN), false);
    table_column(&t, message(w->lang, MSG_COL_DATE), false);
    table_column(&t, message(w->lang, MSG_COL_DURATION), true);
    table_column(&t, message(w->lang, MSG_COL_COST), true);
    table_column(&t, message(w->lang, MSG_COL_RESULT), false);
    for (size_t i = 0; i < l->count; i++)
        add_row(&t, &l->rows[i]);
    md_heading(w, 2, MSG_H_COST);
    md_table(w, &t);
    md_para(w, MSG_COST_TOTAL, m->now.info.ticket, num_int((int64_t)l->runs).s, num_duration(l->wall_s).s,
            num_money(l->cost, own->currency).s, num_money(own->per_hour, own->currency).s);
    table_release(&t);
}
