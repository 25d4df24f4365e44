/* Cost: of this run and of its ticket to date, from the hourly price in the plan. */
#include "common/base/alloc.h"
#include "reports/sections/section.h"
#include "reports/words/number.h"

#include <math.h>
#include <string.h>

static double cost_of(const struct cost_row *r)
{
    return r->wall_s * r->per_hour / 3600;
}

/* Costs in other currencies are shown but not added. */
static bool counts(const struct cost_list *l, const struct cost_row *r)
{
    return isfinite(cost_of(r)) && strcmp(r->currency, l->rows[l->count - 1].currency) == 0;
}

static void add_row(struct table *t, const struct cost_row *r, double so_far)
{
    AUTO(buf_release) struct buf result = {.max = 256};
    buf_printf(&result, "%s, %d/%d OK", run_status_name(r->status), r->ok, r->tests);
    table_code(t, r->run_id);
    table_text(t, r->date);
    table_text(t, num_duration(r->wall_s).s);
    table_text(t, num_money(cost_of(r), r->currency).s);
    table_text(t, num_money(so_far, r->currency).s);
    table_text(t, buf_str(&result));
}

/* Adds one row for all earlier runs that are not shown. Returns their cost. */
static double add_earlier(struct table *t, const struct cost_list *l, enum report_lang lang)
{
    double wall = l->wall_s, cost = l->cost;
    for (size_t i = 0; i < l->count; i++) {
        wall -= isfinite(l->rows[i].wall_s) ? l->rows[i].wall_s : 0;
        cost -= counts(l, &l->rows[i]) ? cost_of(&l->rows[i]) : 0;
    }
    cost = fmax(cost, 0); /* the sums are rounded in a different order */
    if (l->runs == l->count)
        return 0;
    AUTO(buf_release) struct buf name = {.max = 128};
    message_plain(&name, lang, l->runs - l->count == 1 ? MSG_COST_EARLIER_ONE : MSG_COST_EARLIER,
                  num_int((int64_t)(l->runs - l->count)).s);
    table_text(t, buf_str(&name));
    table_text(t, "");
    table_text(t, num_duration(fmax(wall, 0)).s);
    table_text(t, num_money(cost, l->rows[l->count - 1].currency).s);
    table_text(t, num_money(cost, l->rows[l->count - 1].currency).s);
    table_text(t, "");
    return cost;
}

void section_cost(const struct report_model *m, struct md *w)
{
    const struct cost_list *l = &m->costs;
    if (l->count == 0 || !isfinite(cost_of(&l->rows[l->count - 1])))
        return;
    const struct cost_row *own = &l->rows[l->count - 1];
    AUTO(table_release) struct table t = {0};
    table_texts(&t, w->lang, MSG_COL_RUN, MSG_COL_DATE);
    table_numbers(&t, w->lang, MSG_COL_DURATION, MSG_COL_COST, MSG_COL_CUMULATIVE);
    table_texts(&t, w->lang, MSG_COL_RESULT);
    double so_far = add_earlier(&t, l, w->lang);
    for (size_t i = 0; i < l->count; i++) {
        so_far += counts(l, &l->rows[i]) ? cost_of(&l->rows[i]) : 0;
        add_row(&t, &l->rows[i], so_far);
    }
    md_heading(w, 2, MSG_H_COST);
    md_table(w, &t);
    md_para(w, MSG_COST_TOTAL, m->now.info.ticket, num_int((int64_t)l->runs).s, num_duration(l->wall_s).s,
            num_money(l->cost, own->currency).s, num_money(own->per_hour, own->currency).s);
}
