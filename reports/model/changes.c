/* Changes: level changes in the series of this run's cells. */
#include "results/judge/nights/changes.h"
#include "common/base/alloc.h"
#include "reports/model/parts.h"
#include "results/store/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A series with this run as its last point. */
struct points {
    double *x;
    uint64_t *device;
    size_t count;
};

static void points_release(struct points *p)
{
    free(p->x);
    free(p->device);
}

static struct points points_of(const struct report_model *m, const struct history_series *s)
{
    const struct cell *now = run_data_cell(&m->now, s->variant, s->context);
    struct points out = {.x = xcalloc(s->count + 1, sizeof *out.x),
                         .device = xcalloc(s->count + 1, sizeof *out.device),
                         .count = s->count};
    for (size_t i = 0; i < s->count; i++) {
        out.x[i] = s->points[i].median;
        out.device[i] = s->points[i].device;
    }
    if (now && isfinite(now->median[s->metric])) {
        out.device[out.count] = s->device ? s->device : run_device(&m->now);
        out.x[out.count++] = now->median[s->metric];
    }
    return out;
}

/* Finds the commits between the last run of the level before and the first of the new one. */
static int find_commits(const struct report_model *m, const struct history_series *s, const struct change *c,
                        struct commit_range *out, struct err *err)
{
    struct store *store = m->subject->store;
    struct run_revision before = {0}, after = m->now.info.revision;
    if (c->at > 0 && revision_load(store, s->points[c->last].run_key, &before, err) != 0)
        return -1;
    if (c->at < s->count && revision_load(store, s->points[c->at].run_key, &after, err) != 0)
        return -1;
    return commit_range_load(store, &before, &after, out, err);
}

static int append_change(struct report_model *m, const struct history_series *s, const struct change *c,
                         struct err *err)
{
    m->history.changes =
        xrealloc(m->history.changes, (m->history.n_changes + 1) * sizeof *m->history.changes);
    struct level_change *l = &m->history.changes[m->history.n_changes++];
    *l = (struct level_change){.series = s, .at = c->at, .before = c->before, .after = c->after, .p = c->p};
    if (find_commits(m, s, c, &l->commits, err) != 0)
        return -1;
    if (c->at < s->count)
        return report_run_label(m->subject->store, s->points[c->at].run_key, l->run_id, l->date, err);
    memcpy(l->run_id, m->now.info.run_id, sizeof l->run_id);
    memcpy(l->date, m->now.info.date, sizeof l->date);
    return 0;
}

static int find_changes(struct report_model *m, const struct history_series *s, struct err *err)
{
    struct changes_options options = changes_defaults();
    AUTO(changes_release) struct changes found = {0};
    AUTO(points_release) struct points p = points_of(m, s);
    options.device = p.device;
    changes_find(p.x, p.count, &options, &found);
    for (size_t i = 0; i < found.count; i++)
        if (append_change(m, s, &found.items[i], err) != 0)
            return -1;
    return 0;
}

int model_changes(struct report_model *m, struct err *err)
{
    for (size_t i = 0; i < m->n_findings; i++) {
        const struct delta *d = m->findings[i];
        const struct history_series *s =
            history_find(&m->against->history, d->variant, d->context, d->metric);
        if (s && d->now.present && find_changes(m, s, err) != 0)
            return -1;
    }
    return 0;
}
