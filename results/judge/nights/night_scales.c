#include "results/judge/nights/night_scales.h"

#include "results/judge/nights/common_factor.h"
#include "results/judge/nights/scale.h"
#include "results/stats/stats.h"

#include <math.h>

enum { SCALE_NIGHTS = 30, SEGMENT_OF_SCALE_MIN = 3, MEMORY_NIGHTS_MIN = 10 };

/* A smaller memory than the first is taken for chance; with a larger one than the second, nights teach
 * nothing. */
static const double memory_least = 0.15, memory_most = 0.8;

/* The first of the nights that scales are read from. */
static size_t first_of_scale(size_t n)
{
    return n > SCALE_NIGHTS ? n - SCALE_NIGHTS : 0;
}

static double steps_of(const double *y, const struct changes *levels, size_t n)
{
    size_t first = first_of_scale(n);
    return scale_of_steps(y + first, levels->odd + first, n - first);
}

static struct residuals residuals_of(const double *y, const struct changes *levels, size_t n,
                                     double *residuals, double *scratch)
{
    struct residuals r = {0};
    size_t first = first_of_scale(n);
    for (size_t at = 0, from, to; at < n; at = to) {
        size_t in = 0;
        changes_segment(levels, at, &from, &to);
        to = to < n ? to : n;
        for (size_t i = from > first ? from : first; i < to; i++)
            if (!levels->odd[i])
                scratch[in++] = y[i];
        if (in < SEGMENT_OF_SCALE_MIN)
            continue;
        double median = stats_median(scratch, in);
        for (size_t i = 0; i < in; i++)
            residuals[r.nights++] = fabs(scratch[i] - median);
        r.segments++;
    }
    double all = (double)r.nights, of_levels = (double)r.segments;
    if (r.nights > r.segments)
        r.about = scale_of_most(residuals, r.nights) * sqrt(all / (all - of_levels));
    r.steps = steps_of(y, levels, n);
    return r;
}

/* How much nights resemble the night before, from 0 to 1 (the coefficient of AR(1)). */
static double memory_of(const struct residuals *r)
{
    return r->about > 0 ? 1 - r->steps * r->steps / (r->about * r->about) : 0;
}

double nights_alike(double memory)
{
    return (1 + memory) / (1 - memory);
}

/* Of a night about its level. Without a memory, residuals and steps estimate the same. */
static double scale_of(const struct residuals *r, double memory)
{
    double all = (double)r->nights, free_of = all - (double)r->segments;
    double left = fmax(all - (double)r->segments * nights_alike(memory), all / 4);
    if (r->nights == 0)
        return r->steps;
    if (memory > 0 && r->nights > r->segments)
        return fmax(r->about, r->steps) * sqrt(free_of / left);
    return sqrt((r->about * r->about + r->steps * r->steps) / 2);
}

/* Takes the median over the cells, because a single cell says little. */
static double common_memory(const struct residuals *r, size_t cells, double *scratch)
{
    size_t count = 0;
    for (size_t k = 0; k < cells; k++)
        if (r[k].nights >= MEMORY_NIGHTS_MIN)
            scratch[count++] = memory_of(&r[k]);
    double memory = count >= COMMON_CELLS_MIN ? stats_median(scratch, count) : 0;
    return memory < memory_least ? 0 : fmin(memory, memory_most);
}

static double pool(const struct nights *n, bool with_factors, double *scratch)
{
    size_t count = 0;
    for (size_t k = 0; k < n->n_cells; k++)
        if (n->cells[k].scale.nights >= SEGMENT_OF_SCALE_MIN)
            scratch[count++] = with_factors ? n->cells[k].scale.y : n->cells[k].scale.u;
    return count ? stats_median(scratch, count) : 0;
}

double night_scales_prior(const struct nights *n, double *log_s, double *v)
{
    size_t count = 0;
    for (size_t k = 0; k < n->n_cells; k++) {
        const struct night_scale *s = &n->cells[k].scale;
        if (s->nights < SEGMENT_OF_SCALE_MIN || !(s->u > 0))
            continue;
        v[count] = fmin(s->nights, NIGHTS_LEVEL_MAX) - 1;
        log_s[count++] = log(s->u);
    }
    return scale_prior(log_s, v, count);
}

double night_scales_memory(const struct nights *n, struct residuals *r, double *a, double *b)
{
    for (size_t k = 0; k < n->n_cells; k++) {
        const struct night_cell *c = &n->cells[k];
        size_t fitted = c->next[1] > c->foreign ? c->next[1] : c->next[0];
        r[k] = residuals_of(c->u, &c->levels, fitted, a, b);
    }
    return common_memory(r, n->n_cells, a);
}

void night_scales_find(struct nights *n, struct residuals *r, double *a, double *b)
{
    n->memory = night_scales_memory(n, r, a, b);
    for (size_t k = 0; k < n->n_cells; k++) {
        struct night_cell *c = &n->cells[k];
        c->scale.u = scale_of(&r[k], n->memory);
        c->scale.nights = r[k].nights || !(r[k].steps > 0) ? (double)r[k].nights : SEGMENT_OF_SCALE_MIN;
    }
    n->pooled.u = pool(n, false, a);
}

void night_scales_find_with_factors(struct nights *n, double *scratch)
{
    for (size_t k = 0; k < n->n_cells; k++) {
        struct night_cell *c = &n->cells[k];
        double steps = steps_of(c->y, &c->levels, c->count);
        c->scale.y = steps / sqrt(1 - n->memory);
    }
    n->pooled.y = pool(n, true, scratch);
}

struct night_scale night_scale_of(const double *y, const struct changes *levels, size_t n, double *a,
                                  double *b)
{
    struct residuals r = residuals_of(y, levels, n, a, b);
    return (struct night_scale){.y = scale_of(&r, 0), .nights = (double)r.nights};
}
