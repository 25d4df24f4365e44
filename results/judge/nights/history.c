#include "results/judge/nights/history.h"

#include "common/base/alloc.h"
#include "common/base/values.h"
#include "results/judge/nights/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_cell(const void *a, const void *b)
{
    const struct history_series *x = a, *y = b;
    int names = strcmp(x->variant, y->variant);
    if (names)
        return names;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

static int by_place(const void *a, const void *b)
{
    const struct history_series *x = a, *y = b;
    int cells = by_cell(a, b);
    return cells ? cells : (x->device > y->device) - (x->device < y->device);
}

void history_sort(struct history *h)
{
    items_sort(h->series, h->count, sizeof *h->series, by_place);
}

static int by_night(const void *a, const void *b)
{
    const struct history_point *x = a, *y = b;
    if (x->measured_at != y->measured_at)
        return x->measured_at < y->measured_at ? -1 : 1;
    return (x->run_key > y->run_key) - (x->run_key < y->run_key);
}

/* How well a point of a run serves for the device; the other points of the run are left out. */
static int worth(const struct history_point *p, uint64_t device)
{
    if (device && p->device && p->device != device)
        return 0;
    return p->device ? 2 : 1;
}

/* One point for each run, in order of nights. */
static size_t one_of_a_run(struct history_point *points, size_t n, uint64_t device)
{
    size_t kept = 0;
    items_sort(points, n, sizeof *points, by_night);
    for (size_t i = 0; i < n; i++) {
        if (!kept || points[kept - 1].run_key != points[i].run_key)
            points[kept++] = points[i];
        else if (worth(&points[i], device) > worth(&points[kept - 1], device))
            points[kept - 1] = points[i];
    }
    return kept;
}

static void add_place(struct history *out, const struct history_series *s, uint64_t device)
{
    ALLOC_GROW(out->series, out->count + 1, out->cap);
    struct history_series *into = &out->series[out->count++];
    *into = *s;
    into->device = device;
    into->points = xmemdup(s->points, s->count * sizeof *s->points);
    into->count = one_of_a_run(into->points, s->count, device);
}

void history_of_places(const struct history *h, const struct run_data *now, enum metric m, bool whole,
                       struct history *out)
{
    *out = (struct history){.nights = h->nights, .changed = h->changed};
    for (size_t i = 0; i < h->count; i++) {
        const struct history_series *s = &h->series[i];
        struct places p;
        if (s->metric != m)
            continue;
        places_of(now, run_data_cell(now, s->variant, s->context), m, &p);
        for (size_t k = 0; k < (whole ? 1 : p.count); k++)
            add_place(out, s, p.device[k]);
    }
    history_sort(out);
}

void history_append(struct history *h, struct history *from)
{
    ALLOC_GROW(h->series, h->count + from->count, h->cap);
    while (from->count)
        h->series[h->count++] = from->series[--from->count];
}

void history_release(struct history *h)
{
    for (size_t i = 0; i < h->count; i++)
        free(h->series[i].points);
    free(h->series);
    *h = (struct history){0};
}

const struct history_series *history_find(const struct history *h, const char *variant, int context,
                                          enum metric m)
{
    struct history_series key = {.context = context, .metric = m};
    snprintf(key.variant, sizeof key.variant, "%s", variant);
    return h->count ? bsearch(&key, h->series, h->count, sizeof key, by_cell) : NULL;
}

int64_t history_last(const struct history *h)
{
    int64_t last = 0, at = 0;
    for (size_t i = 0; i < h->count; i++)
        for (size_t j = 0; j < h->series[i].count; j++) {
            const struct history_point *p = &h->series[i].points[j];
            if (last == 0 || p->measured_at > at || (p->measured_at == at && p->run_key > last)) {
                last = p->run_key;
                at = p->measured_at;
            }
        }
    return last;
}
