#include "results/judge/nights.h"

#include "results/judge/common_factor.h"
#include "results/judge/scale.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCALE_NIGHTS = 30, SEGMENT_OF_SCALE_MIN = 3, PASSES = 2 };

static int no_memory(struct err *err)
{
    return err_set(err, ERR_INTERNAL, "no memory for the nights");
}

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

static int collect_nights(const struct history *h, enum metric m, struct nights *out, struct err *err)
{
    size_t points = 0;
    for (size_t i = 0; i < h->count; i++)
        if (h->series[i].metric == m) {
            points += h->series[i].count;
            out->n_cells++;
        }
    out->nights = calloc(points + 1, sizeof *out->nights);
    out->cells = calloc(out->n_cells + 1, sizeof *out->cells);
    if (!out->nights || !out->cells)
        return no_memory(err);
    for (size_t i = 0, n = 0; i < h->count; i++)
        for (size_t j = 0; h->series[i].metric == m && j < h->series[i].count; j++)
            out->nights[n++] = night_of(&h->series[i].points[j]);
    if (points)
        qsort(out->nights, points, sizeof *out->nights, by_time);
    for (size_t i = 0; i < points; i++)
        if (out->count == 0 || by_time(&out->nights[out->count - 1], &out->nights[i]) != 0)
            out->nights[out->count++] = out->nights[i];
    return 0;
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
    double *within = calloc(n + 1, sizeof *within);
    int *repetitions = calloc(n + 1, sizeof *repetitions);
    for (size_t i = 0; within && repetitions && i < n; i++) {
        within[i] = points[i]->within;
        repetitions[i] = points[i]->n;
    }
    double scale = within && repetitions ? scale_within(within, repetitions, n) : 0;
    free(within);
    free(repetitions);
    return scale;
}

/* Values that are not positive have no logarithm: they are left out. */
static int fill_cell(const struct nights *n, const struct history_series *s, struct night_cell *c,
                     struct err *err)
{
    c->series = s;
    c->points = calloc(s->count + 1, sizeof *c->points);
    c->night = calloc(s->count + 1, sizeof *c->night);
    c->y = calloc(s->count + 1, sizeof *c->y);
    c->u = calloc(s->count + 1, sizeof *c->u);
    if (!c->points || !c->night || !c->y || !c->u)
        return no_memory(err);
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].median > 0)
            c->points[c->count++] = &s->points[i];
    if (c->count)
        qsort(c->points, c->count, sizeof(const struct history_point *), points_by_time);
    for (size_t i = 0; i < c->count; i++) {
        c->night[i] = find_night(n, c->points[i]);
        c->u[i] = c->points[i]->median;
        c->y[i] = log(c->points[i]->median);
    }
    c->quantum = scale_quantum(c->u, c->count);
    c->within = within_nights(c->points, c->count);
    return 0;
}

/* The level of each point's segment: of the whole series while no segments are known. Scratch: count values.
 */
static void levels_of_points(const struct night_cell *c, double *level, double *scratch)
{
    for (size_t from = 0, to; from < c->count; from = to) {
        size_t n = 0, first = from;
        to = c->count;
        if (c->levels.n)
            changes_segment(&c->levels, from, &first, &to);
        else if (c->count > NIGHTS_LEVEL_MAX)
            first = c->count - NIGHTS_LEVEL_MAX;
        for (size_t i = first; i < to; i++)
            if (!c->levels.n || !c->levels.odd[i])
                scratch[n++] = c->levels.n ? c->u[i] : c->y[i];
        double median = stats_median(scratch, n);
        for (size_t i = from; i < to; i++)
            level[i] = median;
    }
}

/* One row per night and cell: where the cell's value lay that night. */
static void find_factors(struct nights *n, struct common_cell *rows, size_t *counts, double *level,
                         double *scratch)
{
    memset(counts, 0, n->count * sizeof *counts);
    for (size_t k = 0; k < n->n_cells; k++) {
        const struct night_cell *c = &n->cells[k];
        levels_of_points(c, level, scratch);
        for (size_t i = 0; i < c->count; i++)
            if (isfinite(level[i])) {
                size_t t = c->night[i];
                rows[t * n->n_cells + counts[t]++] = (struct common_cell){.x = c->y[i] - level[i]};
            }
    }
    for (size_t t = 0; t < n->count; t++) {
        struct common_factor f = common_factor_of(rows + t * n->n_cells, counts[t], n->pooled.u);
        n->nights[t].factor = f.log;
        n->has_factors |= f.known;
    }
}

static int find_levels(const struct nights *n, struct night_cell *c, double *x, uint64_t *device,
                       struct err *err)
{
    struct changes_options o = changes_defaults();
    o.device = device;
    for (size_t i = 0; i < c->count; i++) {
        c->u[i] = c->y[i] - n->nights[c->night[i]].factor;
        x[i] = exp(c->u[i]);
        device[i] = c->points[i]->device;
    }
    changes_release(&c->levels);
    return changes_find(x, c->count, &o, &c->levels, err);
}

/* The scale of y about the levels of `levels`: the larger of that of the residuals and that of the steps. */
static double scale_about(const double *y, const struct changes *levels, size_t n, double *residuals,
                          double *scratch, size_t *used)
{
    size_t first = n > SCALE_NIGHTS ? n - SCALE_NIGHTS : 0, count = 0, segments = 0;
    for (size_t at = 0, from, to; at < n; at = to) {
        size_t in = 0;
        changes_segment(levels, at, &from, &to);
        for (size_t i = from > first ? from : first; i < to; i++)
            if (!levels->odd[i])
                scratch[in++] = y[i];
        if (in < SEGMENT_OF_SCALE_MIN)
            continue;
        double median = stats_median(scratch, in);
        for (size_t i = 0; i < in; i++)
            residuals[count++] = fabs(scratch[i] - median);
        segments++;
    }
    *used = count;
    double all = (double)count, of_levels = (double)segments;
    double about = count > segments ? scale_of_most(residuals, count) * sqrt(all / (all - of_levels)) : 0;
    return fmax(about, scale_of_steps(y + first, levels->odd + first, n - first));
}

static void find_scale(struct night_cell *c, double *residuals, double *scratch)
{
    size_t used;
    c->scale.y = scale_about(c->y, &c->levels, c->count, residuals, scratch, &used);
    c->scale.u = scale_about(c->u, &c->levels, c->count, residuals, scratch, &used);
    c->scale.nights = (double)used;
}

static void pool_scales(struct nights *n, double *scratch)
{
    size_t count = 0;
    for (size_t k = 0; k < n->n_cells; k++)
        if (n->cells[k].scale.nights >= SEGMENT_OF_SCALE_MIN)
            scratch[count++] = n->cells[k].scale.u;
    n->pooled.u = count ? stats_median(scratch, count) : 0;
    count = 0;
    for (size_t k = 0; k < n->n_cells; k++)
        if (n->cells[k].scale.nights >= SEGMENT_OF_SCALE_MIN)
            scratch[count++] = n->cells[k].scale.y;
    n->pooled.y = count ? stats_median(scratch, count) : 0;
    n->pooled.nights = (double)count;
}

struct scratch {
    double *a, *b;
    uint64_t *device;
    struct common_cell *rows;
    size_t *counts;
};

static bool scratch_init(struct scratch *s, const struct nights *n)
{
    size_t most = n->count > n->n_cells ? n->count : n->n_cells;
    s->a = calloc(most + 1, sizeof *s->a);
    s->b = calloc(most + 1, sizeof *s->b);
    s->device = calloc(most + 1, sizeof *s->device);
    s->rows = calloc(n->count * n->n_cells + 1, sizeof *s->rows);
    s->counts = calloc(n->count + 1, sizeof *s->counts);
    return s->a && s->b && s->device && s->rows && s->counts;
}

static void scratch_release(struct scratch *s)
{
    free(s->a);
    free(s->b);
    free(s->device);
    free(s->rows);
    free(s->counts);
}

/* Factors and levels depend on each other: the second pass knows the levels of the first. */
static int fit(struct nights *n, struct scratch *s, struct err *err)
{
    for (int pass = 0; pass < PASSES; pass++) {
        find_factors(n, s->rows, s->counts, s->a, s->b);
        for (size_t k = 0; k < n->n_cells; k++) {
            if (find_levels(n, &n->cells[k], s->a, s->device, err) != 0)
                return -1;
            find_scale(&n->cells[k], s->a, s->b);
        }
        pool_scales(n, s->a);
    }
    return 0;
}

static int fit_factors(struct nights *n, struct scratch *s, struct err *err)
{
    const struct changes_options defaults = changes_defaults();
    struct changes_options o = defaults;
    double *y = s->counts ? calloc(n->count + 1, sizeof *y) : NULL;
    if (!y)
        return no_memory(err);
    for (size_t t = 0; t < n->count; t++) {
        y[t] = n->nights[t].factor;
        s->a[t] = exp(y[t]);
        s->device[t] = n->nights[t].device;
    }
    o.device = s->device;
    int rc = changes_find(s->a, n->count, &o, &n->factor_levels, err);
    size_t used = 0;
    if (rc == 0)
        n->factor_scale.y = scale_about(y, &n->factor_levels, n->count, s->a, s->b, &used);
    n->factor_scale.nights = (double)used;
    free(y);
    return rc;
}

int nights_model(const struct history *h, enum metric m, struct nights *out, struct err *err)
{
    struct scratch s = {0};
    *out = (struct nights){0};
    int rc = collect_nights(h, m, out, err);
    for (size_t i = 0, k = 0; rc == 0 && i < h->count; i++)
        if (h->series[i].metric == m)
            rc = fill_cell(out, &h->series[i], &out->cells[k++], err);
    if (rc == 0 && !scratch_init(&s, out))
        rc = no_memory(err);
    if (rc == 0)
        rc = fit(out, &s, err);
    if (rc == 0)
        rc = fit_factors(out, &s, err);
    scratch_release(&s);
    if (rc != 0)
        nights_release(out);
    return rc;
}

void nights_release(struct nights *n)
{
    for (size_t k = 0; k < n->n_cells && n->cells; k++) {
        struct night_cell *c = &n->cells[k];
        free(c->points);
        free(c->night);
        free(c->y);
        free(c->u);
        changes_release(&c->levels);
    }
    changes_release(&n->factor_levels);
    free(n->cells);
    free(n->nights);
    *n = (struct nights){0};
}
