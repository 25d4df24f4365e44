/* Chooses which histories are drawn, and the dates on their axes. */
#include "reports/model/parts.h"

/* Dates are evenly spaced, with room for the date of this run after the last. */
static int date_tics(struct report_model *m, struct plotted_series *p, struct err *err)
{
    const size_t count = p->series->count;
    const size_t step = (count + PLOTTED_TICS_MAX - 2) / (PLOTTED_TICS_MAX - 1);
    for (size_t at = 0; at + step / 2 < count && p->tics < PLOTTED_TICS_MAX; at += step) {
        char run_id[RUN_ID_MAX];
        p->tic[p->tics].at = at;
        if (report_run_label(m->subject->store, p->series->points[at].run_key, run_id, p->tic[p->tics].date,
                             err))
            return -1;
        p->tics++;
    }
    return 0;
}

int model_plotted(struct report_model *m, struct err *err)
{
    for (size_t i = 0; i < m->n_findings && m->history.n_plotted < PLOTTED_MAX; i++) {
        const struct delta *d = m->findings[i];
        const struct history_series *s =
            history_find(&m->against->history, d->variant, d->context, d->metric);
        if (!s || s->count < PLOTTED_POINTS_MIN)
            continue;
        struct plotted_series *p = &m->history.plotted[m->history.n_plotted++];
        *p = (struct plotted_series){.delta = d, .series = s};
        if (date_tics(m, p, err))
            return -1;
    }
    return 0;
}
