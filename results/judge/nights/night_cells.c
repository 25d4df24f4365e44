#include "results/judge/nights/night_cells.h"

#include "common/base/alloc.h"
#include "common/base/values.h"
#include "results/judge/nights/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
    const struct night *x = a, *y = b;
    if (x->measured_at != y->measured_at)
        return x->measured_at < y->measured_at ? -1 : 1;
    return (x->run_key > y->run_key) - (x->run_key < y->run_key);
}

static struct night night_of(const struct history_point *p)
{
    return (struct night){.run_key = p->run_key, .measured_at = p->measured_at, .device = p->device};
}

/* The index of the night, or where it belongs. next: the likely index, as nights of a series mostly follow
 * each other. */
static size_t place_of(const struct nights *n, const struct night *x, size_t next)
{
    size_t low = 0, high = n->count;
    if (next < high && by_time(&n->nights[next], x) == 0)
        return next;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_time(&n->nights[middle], x) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void collect_series(const struct history_series *s, struct nights *out)
{
    for (size_t j = 0, at = 0; j < s->count; j++, at++) {
        const struct night x = night_of(&s->points[j]);
        at = place_of(out, &x, at);
        struct night *there = &out->nights[at];
        if (at < out->count && by_time(there, &x) == 0) {
            there->several |= there->device != x.device;
            continue;
        }
        memmove(there + 1, there, (out->count++ - at) * sizeof *there);
        *there = x;
    }
}

static void collect_nights(const struct history *h, enum metric m, struct nights *out)
{
    size_t points = 0;
    for (size_t i = 0; i < h->count; i++)
        if (h->series[i].metric == m) {
            points += h->series[i].count;
            out->n_cells++;
        }
    out->nights = xcalloc(points + 1, sizeof *out->nights);
    out->cells = xcalloc(out->n_cells + 1, sizeof *out->cells);
    for (size_t i = 0; i < h->count; i++)
        if (h->series[i].metric == m)
            collect_series(&h->series[i], out);
    for (size_t t = 0; t < out->count; t++)
        if (out->nights[t].several)
            out->nights[t].device = 0;
}

static int points_by_time(const void *a, const void *b)
{
    const struct night x = night_of(*(const struct history_point *const *)a),
                       y = night_of(*(const struct history_point *const *)b);
    return by_time(&x, &y);
}

static size_t find_night(const struct nights *n, const struct history_point *p)
{
    const struct night wanted = night_of(p);
    const struct night *found = bsearch(&wanted, n->nights, n->count, sizeof wanted, by_time);
    return (size_t)(found - n->nights); // every point's night was collected
}

static double within_nights(const struct history_point *const *points, size_t n)
{
    AUTO_FREE double *within = xcalloc(n + 1, sizeof *within);
    AUTO_FREE int *repetitions = xcalloc(n + 1, sizeof *repetitions);
    for (size_t i = 0; i < n; i++) {
        within[i] = points[i]->within;
        repetitions[i] = points[i]->n;
    }
    return scale_within(within, repetitions, n);
}

static bool is_foreign(const struct history_series *s, const struct history_point *p)
{
    return s->device && p->device && p->device != s->device;
}

/* Values that are not positive have no logarithm: they are left out. Returns how many there are now. */
static size_t take_points(const struct history_series *s, bool foreign, struct night_cell *c)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].median > 0 && is_foreign(s, &s->points[i]) == foreign)
            c->points[c->count++] = &s->points[i];
    return c->count;
}

static void fill_cell(const struct nights *n, const struct history_series *s, struct night_cell *c)
{
    c->series = s;
    c->points = xcalloc(s->count + 1, sizeof *c->points);
    c->night = xcalloc(s->count + 1, sizeof *c->night);
    c->y = xcalloc(s->count + 1, sizeof *c->y);
    c->u = xcalloc(s->count + 1, sizeof *c->u);
    c->worse = xcalloc(s->count + 1 + STANDING_AHEAD, sizeof *c->worse);
    c->foreign = take_points(s, true, c);
    take_points(s, false, c);
    items_sort(c->points, c->foreign, sizeof *c->points, points_by_time);
    items_sort(c->points + c->foreign, c->count - c->foreign, sizeof *c->points, points_by_time);
    for (size_t i = 0; i < c->count; i++) {
        c->night[i] = find_night(n, c->points[i]);
        c->u[i] = c->points[i]->median;
        c->y[i] = log(c->points[i]->median);
    }
    c->quantum = scale_quantum(c->u, c->count);
    c->within = within_nights(c->points, c->count);
}

/* Cells of one plan share a clock, so that a tick that shows in one of them is in all. */
static void share_tick(struct nights *n)
{
    double tick = INFINITY;
    for (size_t k = 0; k < n->n_cells; k++) {
        const struct night_cell *c = &n->cells[k];
        double most = 0; /* the quantum is the smallest relative step, that of the largest values */
        for (size_t i = 0; i < c->count; i++)
            most = fmax(most, c->points[i]->median);
        if (c->quantum > 0)
            tick = fmin(tick, c->quantum * most);
    }
    for (size_t k = 0; isfinite(tick) && k < n->n_cells; k++) {
        struct night_cell *c = &n->cells[k];
        if (c->count > 0)
            c->quantum = fmax(c->quantum, fmin(tick / c->points[c->count - 1]->median, 1));
    }
}

void night_cells_fill(const struct history *h, enum metric m, struct nights *out)
{
    collect_nights(h, m, out);
    for (size_t i = 0, k = 0; i < h->count; i++)
        if (h->series[i].metric == m)
            fill_cell(out, &h->series[i], &out->cells[k++]);
    share_tick(out);
}
