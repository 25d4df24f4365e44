#include "results/judge/nights/changes.h"

#include "common/base/alloc.h"
#include "results/judge/nights/excursions.h"
#include "results/judge/nights/scale.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 7 };

static const double odd_scales = 5;
static const double weak_p = 0.01;

struct changes_options changes_defaults(void)
{
    return (struct changes_options){.p = 0.001, .magnitude = 0.02};
}

/* The points that are kept and the cuts between them. */
struct search {
    const struct changes_options *o;
    size_t *index;   /* of a kept point: its place in the series */
    double *sum;     /* sum[i]: of the logarithms of the first i kept points */
    double *squares; /* squares[i]: of their squares */
    size_t n;        /* kept points */
    double scale;    /* of one point */
    double freedom;  /* behind the scale */
    double limit;    /* of t, for an interval of 95 %; set where there are cuts */
    size_t *cuts;    /* between kept points, sorted when the search is over */
    bool *forced;    /* of a kept point: a cut before it, because the device changed */
    size_t count;
};

static double mean_of(const struct search *s, size_t from, size_t to)
{
    return (s->sum[to] - s->sum[from]) / (double)(to - from);
}

/* The section [*i, *j) of [from, to) that differs most from the rest, and by how many standard errors. Both
 * have at least CHANGES_SEGMENT_MIN points, and so has what remains on either side, unless nothing does. */
static double best_section(const struct search *s, size_t from, size_t to, size_t *i, size_t *j)
{
    const size_t least = CHANGES_SEGMENT_MIN;
    size_t n = to - from;
    double best = 0, mean = mean_of(s, from, to), all = (double)n;
    for (size_t a = from; a + least <= to; a++) {
        if (a > from && a - from < least)
            continue;
        for (size_t b = a + least; b <= to; b++) {
            size_t k = b - a;
            if (n - k < least || (b < to && to - b < least))
                continue;
            double in = (double)k, excess = s->sum[b] - s->sum[a] - in * mean;
            double squared = excess * excess * all / (in * (all - in));
            if (squared > best) {
                best = squared;
                *i = a;
                *j = b;
            }
        }
    }
    return sqrt(best) / s->scale;
}

/* p of the largest of many sections of n points; Bonferroni over the number of places. */
static double adjusted_p(const struct search *s, double t, size_t n)
{
    return fmin(1, stats_t_p(t, s->freedom) * (double)n);
}

static void search_cuts(struct search *s, size_t from, size_t to)
{
    size_t i = from, j = to;
    if (to - from < 2 * CHANGES_SEGMENT_MIN)
        return;
    double t = best_section(s, from, to, &i, &j);
    if (t <= 0 || adjusted_p(s, t, to - from) > weak_p)
        return;
    if (i > from)
        s->cuts[s->count++] = i;
    if (j < to)
        s->cuts[s->count++] = j;
    search_cuts(s, from, i);
    search_cuts(s, i, j);
    search_cuts(s, j, to);
}

static int by_place(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void neighbours(const struct search *s, size_t i, size_t *from, size_t *to)
{
    *from = i ? s->cuts[i - 1] : 0;
    *to = i + 1 < s->count ? s->cuts[i + 1] : s->n;
}

/* The sum of the squared differences from the mean. */
static double scatter_of(const struct search *s, size_t from, size_t to)
{
    double mean = mean_of(s, from, to), n = (double)(to - from);
    return fmax(0, s->squares[to] - s->squares[from] - n * mean * mean);
}

/* Of one point about the levels on both sides, where they scatter more than the series does. */
static double scale_beside(const struct search *s, size_t from, size_t at, size_t to)
{
    double n = (double)(to - from);
    return n > 2 ? fmax(s->scale, sqrt((scatter_of(s, from, at) + scatter_of(s, at, to)) / (n - 2)))
                 : s->scale;
}

static double error_between(const struct search *s, size_t from, size_t at, size_t to)
{
    return s->scale * sqrt(1 / (double)(at - from) + 1 / (double)(to - at));
}

static struct change describe_cut(const struct search *s, size_t i)
{
    size_t from, at = s->cuts[i], to;
    neighbours(s, i, &from, &to);
    double before = mean_of(s, from, at), after = mean_of(s, at, to), step = after - before;
    double wider = scale_beside(s, from, at, to) / s->scale;
    double error = wider * error_between(s, from, at, to), reach = s->limit * error;
    return (struct change){.at = s->index[at],
                           .last = s->index[at - 1],
                           .before = exp(before),
                           .after = exp(after),
                           .ratio = exp(step),
                           .ratio_low = exp(step - reach),
                           .ratio_high = exp(step + reach),
                           .p = adjusted_p(s, step / error, to - from),
                           .forced = s->forced[at]};
}

static bool is_significant(const struct search *s, const struct change *c)
{
    return c->forced || (c->p <= s->o->p && fabs(log(c->ratio)) >= log1p(s->o->magnitude));
}

static void drop_weak(struct search *s)
{
    for (;;) {
        size_t weakest = s->count;
        double p = -1;
        for (size_t i = 0; i < s->count; i++) {
            struct change c = describe_cut(s, i);
            if (!is_significant(s, &c) && c.p > p) {
                p = c.p;
                weakest = i;
            }
        }
        if (weakest == s->count)
            return;
        memmove(s->cuts + weakest, s->cuts + weakest + 1, (s->count - weakest - 1) * sizeof *s->cuts);
        s->count--;
    }
}

/* Moves every cut to the best place between its neighbours: a section was fitted to the rest of a stretch in
 * which there were other changes. */
static void settle_cuts(struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t from, to;
        double best = -1;
        neighbours(s, i, &from, &to);
        if (s->forced[s->cuts[i]])
            continue;
        for (size_t at = from + CHANGES_SEGMENT_MIN; at + CHANGES_SEGMENT_MIN <= to; at++) {
            double t = fabs(mean_of(s, at, to) - mean_of(s, from, at)) / error_between(s, from, at, to);
            if (t > best) {
                best = t;
                s->cuts[i] = at;
            }
        }
    }
}

/* The median of the nights around a point that are not set aside. */
static double local_median(const double *y, const bool *odd, size_t n, size_t at)
{
    double near[WINDOW];
    size_t from = at > WINDOW / 2 ? at - WINDOW / 2 : 0, count = 0;
    for (size_t i = from; i <= at + WINDOW / 2 && i < n; i++)
        if (!odd[i])
            near[count++] = y[i];
    return stats_median(near, count);
}

static bool is_far(const double *y, const bool *odd, size_t n, size_t at, double limit, int *side)
{
    double d = y[at] - local_median(y, odd, n, at);
    *side = d > 0 ? 1 : -1;
    return fabs(d) > limit;
}

/* Two far nights in a row on the same side may be a level of their own. */
static bool has_company(const double *y, const bool *odd, size_t n, size_t at, int side, double limit)
{
    double level = local_median(y, odd, n, at);
    if (at > 0 && !odd[at - 1] && side * (y[at - 1] - level) > limit)
        return true;
    return at + 1 < n && !odd[at + 1] && side * (y[at + 1] - level) > limit;
}

static bool all_within(const double *y, const bool *odd, size_t n, double reach)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (!odd[i]) {
            low = fmin(low, y[i]);
            high = fmax(high, y[i]);
        }
    return !(high - low > reach);
}

/* Returns whether any night was set aside. */
static bool set_aside(const double *y, size_t n, double scale, bool *odd)
{
    double limit = odd_scales * scale;
    if (n <= 2 || all_within(y, odd, n, limit)) /* then none is so far from the median of its neighbours */
        return false;
    bool any = false;
    AUTO_FREE bool *far = xcalloc(n, sizeof *far);
    for (size_t i = 0; i < n; i++) {
        int side;
        far[i] = !odd[i] && is_far(y, odd, n, i, limit, &side) && !has_company(y, odd, n, i, side, limit);
        any |= far[i];
    }
    for (size_t i = 0; i < n; i++)
        odd[i] |= far[i];
    return any;
}

/* The device of a point, or of the last point before it whose device is known. */
static void force_cuts(struct search *s)
{
    uint64_t last = 0;
    for (size_t i = 0; s->o->device && i < s->n; i++) {
        uint64_t device = s->o->device[s->index[i]];
        if (last && device && device != last) {
            s->forced[i] = true;
            s->cuts[s->count++] = i;
        }
        last = device ? device : last;
    }
}

static void search_stretches(struct search *s)
{
    size_t stretches = s->count, from = 0;
    for (size_t i = 0; i <= stretches; i++) {
        size_t to = i < stretches ? s->cuts[i] : s->n;
        search_cuts(s, from, to);
        from = to;
    }
}

static void keep_points(struct search *s, const double *y, const bool *odd, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!odd[i]) {
            s->index[s->n] = i;
            s->sum[s->n + 1] = s->sum[s->n] + y[i];
            s->squares[s->n + 1] = s->squares[s->n] + y[i] * y[i];
            s->n++;
        }
    s->freedom = fmax(2, 0.6 * (double)s->n);
}

static void search_release(struct search *s)
{
    free(s->index);
    free(s->sum);
    free(s->squares);
    free(s->cuts);
    free(s->forced);
}

static void take_logarithms(const double *x, size_t n, double *y, bool *odd)
{
    for (size_t i = 0; i < n; i++) {
        odd[i] = !(x[i] > 0 && isfinite(x[i]));
        y[i] = odd[i] ? NAN : log(x[i]);
    }
}

/* The stretches between the cuts, of n points of the series. */
static void stretches_of(const struct search *s, size_t n, struct stretch *out)
{
    for (size_t i = 0; i <= s->count; i++) {
        size_t from = i ? s->cuts[i - 1] : 0, to = i < s->count ? s->cuts[i] : s->n;
        out[i] = (struct stretch){.from = i ? s->index[from] : 0,
                                  .to = i < s->count ? s->index[to] : n,
                                  .level = to > from ? mean_of(s, from, to) : 0,
                                  .apart = i && s->forced[from]};
    }
}

/* Whether one of the two stretches is an excursion from the other. */
static bool belong_together(const struct stretch *before, const struct stretch *after)
{
    return !after->apart && ((after->chance && after->before) || (before->chance && !before->before));
}

/* Joins excursions that are no levels with the level beside them. Returns whether there were any. */
static bool join_excursions(struct search *s, const double *y, const bool *odd, size_t n)
{
    AUTO_FREE struct stretch *all = xcalloc(s->count + 1, sizeof *all);
    size_t cuts = s->count;
    stretches_of(s, n, all);
    if (cuts == 0 || excursions_find(y, odd, all, cuts + 1) == 0)
        return false;
    s->count = 0;
    for (size_t i = 0; i < cuts; i++)
        if (!belong_together(&all[i], &all[i + 1]))
            s->cuts[s->count++] = s->cuts[i];
    return true;
}

/* y: scratch space for the logarithms. */
static void search_series(struct search *s, const double *x, size_t n, double *y, struct changes *out)
{
    bool *odd = out->odd + out->from;
    take_logarithms(x, n, y, odd);
    s->scale = fmax(SCALE_LEAST, scale_quantum(x, n) / 2);
    double steps = scale_of_steps(y, odd, n), calm = fmin(steps, scale_of_calm(y, odd, n));
    if (set_aside(y, n, fmax(s->scale, calm), odd))
        steps = scale_of_steps(y, odd, n);
    s->scale = fmax(s->scale, steps);
    keep_points(s, y, odd, n);
    force_cuts(s);
    search_stretches(s);
    if (s->count > 0)
        s->limit = stats_t_limit(0.05, s->freedom);
    qsort(s->cuts, s->count, sizeof *s->cuts, by_place);
    drop_weak(s);
    settle_cuts(s);
    drop_weak(s);
    while (join_excursions(s, y, odd, n)) /* there are fewer stretches each time */
        drop_weak(s);
    out->items = xcalloc(s->count + 1, sizeof *out->items);
    for (size_t i = 0; i < s->count; i++) {
        out->items[i] = describe_cut(s, i);
        out->items[i].at += out->from;
        out->items[i].last += out->from;
    }
    out->count = s->count;
    out->scale = s->scale;
}

void changes_find(const double *x, size_t n, const struct changes_options *o, struct changes *out)
{
    *out = (struct changes){.from = n > CHANGES_POINTS_MAX ? n - CHANGES_POINTS_MAX : 0, .n = n};
    struct changes_options options = *o;
    if (options.device)
        options.device += out->from;
    size_t searched = n - out->from;
    AUTO(search_release)
    struct search s = {.o = &options,
                       .index = xcalloc(searched + 1, sizeof *s.index),
                       .sum = xcalloc(searched + 2, sizeof *s.sum),
                       .squares = xcalloc(searched + 2, sizeof *s.squares),
                       .cuts = xcalloc(2 * searched + 1, sizeof *s.cuts),
                       .forced = xcalloc(searched + 1, sizeof *s.forced)};
    AUTO_FREE double *y = xcalloc(searched + 1, sizeof *y);
    out->odd = xcalloc(n + 1, sizeof *out->odd);
    search_series(&s, x + out->from, searched, y, out);
}

void changes_release(struct changes *c)
{
    free(c->items);
    free(c->odd);
    *c = (struct changes){0};
}

void changes_segment(const struct changes *c, size_t point, size_t *from, size_t *to)
{
    *from = c->from;
    *to = c->n;
    for (size_t i = 0; i < c->count; i++) {
        if (c->items[i].at <= point)
            *from = c->items[i].at;
        else {
            *to = c->items[i].at;
            return;
        }
    }
}
