/* The part of cards.h that looks at a history from tonight's GPUs. */
#include "results/judge/nights/cards.h"

#include "common/base/alloc.h"
#include "results/judge/nights/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct aligning {
    const struct history *from;
    const struct run_data *now;
    const struct cards *cards;
    struct history *out;
};

static int by_night(const void *a, const void *b)
{
    const struct history_point *x = a, *y = b;
    if (x->measured_at != y->measured_at)
        return x->measured_at < y->measured_at ? -1 : 1;
    return (x->run_key > y->run_key) - (x->run_key < y->run_key);
}

static bool is_native(const struct history_point *p, uint64_t device)
{
    return !device || !p->device || p->device == device;
}

/* How well the point of a run serves for the device: the others of the run are left out. */
static int worth(const struct history_point *p, uint64_t device)
{
    if (!is_native(p, device))
        return 0;
    return p->card_error > 0 ? 1 : p->device ? 3 : 2;
}

static void translate(const struct aligning *a, const struct history_series *s, uint64_t device,
                      struct history_point *p)
{
    if (is_native(p, device))
        return;
    struct card_factor f = cards_factor(a->cards, s->metric, s->variant, s->context, p->device, device);
    if (!f.known)
        return;
    p->median *= exp(f.log);
    p->card_log = f.log;
    p->card_error = f.error;
    p->device = device;
}

/* One point for each run, in order of nights. */
static size_t one_of_a_run(struct history_point *points, size_t n, uint64_t device)
{
    size_t kept = 0;
    if (n)
        qsort(points, n, sizeof *points, by_night);
    for (size_t i = 0; i < n; i++) {
        if (!kept || points[kept - 1].run_key != points[i].run_key)
            points[kept++] = points[i];
        else if (worth(&points[i], device) > worth(&points[kept - 1], device))
            points[kept - 1] = points[i];
    }
    return kept;
}

static int copy_series(struct aligning *a, const struct history_series *s, uint64_t device, struct err *err)
{
    struct history *out = a->out;
    struct history_point *points = malloc((s->count + 1) * sizeof *points);
    if (!points || !ALLOC_GROW(out->series, out->count + 1, out->cap)) {
        free(points);
        return err_set(err, ERR_INTERNAL, "no memory for %zu nights", s->count);
    }
    memcpy(points, s->points, s->count * sizeof *points);
    for (size_t i = 0; i < s->count; i++)
        translate(a, s, device, &points[i]);
    struct history_series *into = &out->series[out->count++];
    *into = *s;
    into->device = device;
    into->points = points;
    into->count = one_of_a_run(points, s->count, device);
    return 0;
}

int cards_align(const struct history *h, const struct run_data *now, const struct cards *c, enum metric m,
                bool whole, struct history *out, struct err *err)
{
    struct aligning a = {.from = h, .now = now, .cards = c, .out = out};
    int rc = 0;
    *out = (struct history){.nights = h->nights};
    for (size_t i = 0; rc == 0 && i < h->count; i++) {
        const struct history_series *s = &h->series[i];
        struct places p;
        if (s->metric != m)
            continue;
        places_of(now, run_data_cell(now, s->variant, s->context), m, &p);
        for (size_t k = 0; rc == 0 && k < (whole ? 1 : p.count); k++)
            rc = copy_series(&a, s, p.device[k], err);
    }
    history_sort(out);
    if (rc != 0)
        history_release(out);
    return rc;
}
