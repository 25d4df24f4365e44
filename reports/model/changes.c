/* Changes: level changes in the series of this run's cells. */
#include "results/judge/changes.h"
#include "reports/model/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The series with this run as its last point. */
static double *values_of(const struct report_model *m, const struct history_series *s, size_t *count)
{
    const struct cell *now = run_data_cell(&m->now, s->variant, s->context);
    double *x = calloc(s->count + 1, sizeof *x);
    for (size_t i = 0; x && i < s->count; i++)
        x[i] = s->points[i].median;
    *count = s->count;
    if (x && now && isfinite(now->median[s->metric]))
        x[(*count)++] = now->median[s->metric];
    return x;
}

static int append_change(struct report_model *m, const struct history_series *s, const struct change *c,
                         struct err *err)
{
    struct level_change *items = reallocarray(m->changes, m->n_changes + 1, sizeof *items);
    if (!items)
        return err_set(err, ERR_INTERNAL, "report: memory is short");
    m->changes = items;
    struct level_change *l = &items[m->n_changes++];
    *l = (struct level_change){.series = s, .at = c->at, .before = c->before, .after = c->after, .p = c->p};
    if (c->at < s->count)
        return report_run_label(m->subject->store, s->points[c->at].run_key, l->run_id, l->date, err);
    memcpy(l->run_id, m->now.info.run_id, sizeof l->run_id);
    memcpy(l->date, m->now.info.date, sizeof l->date);
    return 0;
}

static int find_changes(struct report_model *m, const struct history_series *s, struct err *err)
{
    const struct changes_options options = changes_defaults();
    struct changes found = {0};
    size_t count;
    double *x = values_of(m, s, &count);
    if (!x)
        return err_set(err, ERR_INTERNAL, "report: memory is short");
    int rc = changes_find(x, count, &options, &found, err);
    for (size_t i = 0; rc == 0 && i < found.count; i++)
        rc = append_change(m, s, &found.items[i], err);
    changes_release(&found);
    free(x);
    return rc;
}

int model_changes(struct report_model *m, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->n_findings; i++) {
        const struct delta *d = m->findings[i];
        const struct history_series *s =
            history_find(&m->against->history, d->variant, d->context, d->metric);
        if (s && d->in_now)
            rc = find_changes(m, s, err);
    }
    return rc;
}
