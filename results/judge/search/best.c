#include "results/judge/search/best.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>

static const double alpha = 0.025;

/* Room for the logarithms of two points, less always being better. */
struct pair {
    double *x, *y;
    size_t n, m;
};

struct finding {
    struct best_point *points;
    size_t count, runs;
    double sign; /* -1: more is better */
    struct pair pair;
};

static bool measured_in(const struct best_point *p, size_t run)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->value[i].run == run)
            return true;
    return false;
}

static size_t take_shared(const struct finding *f, const struct best_point *p, const struct best_point *with,
                          double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (measured_in(with, p->value[i].run))
            out[n++] = f->sign * log(p->value[i].value);
    return n;
}

static void compare(struct finding *f, size_t a, size_t b)
{
    f->pair.n = take_shared(f, &f->points[a], &f->points[b], f->pair.x);
    f->pair.m = take_shared(f, &f->points[b], &f->points[a], f->pair.y);
}

/* One-sided p that a is as good as b or better, adjusted; 1 when that cannot be judged. */
static double p_as_good(struct finding *f, size_t a, size_t b)
{
    struct pair *s = &f->pair;
    compare(f, a, b);
    if (s->n < BEST_VALUES_MIN || s->m < BEST_VALUES_MIN)
        return 1;
    double p = stats_welch(s->x, s->n, s->y, s->m) / 2;
    if (isnan(p) || !(stats_mean(s->x, s->n) > stats_mean(s->y, s->m)))
        return 1;
    return fmin(1, p * (double)(f->count - 1) * (double)f->runs);
}

static void rule_out(struct finding *f, size_t a)
{
    struct best_point *point = &f->points[a];
    point->p = 1;
    point->beaten_by = a;
    for (size_t b = 0; b < f->count; b++) {
        double p = b == a ? 1 : p_as_good(f, a, b);
        if (p >= point->p)
            continue;
        point->p = p;
        point->beaten_by = b;
    }
    point->candidate = point->count > 0 && point->p > alpha;
    if (point->candidate)
        point->beaten_by = a;
}

static int describe(struct best_point *p, struct err *err)
{
    double *x = calloc(p->count + 1, sizeof *x);
    if (!x)
        return err_set(err, ERR_INTERNAL, "no memory for the points");
    p->runs = 0;
    for (size_t i = 0; i < p->count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || p->value[j].run == p->value[i].run;
        p->runs += !seen;
        x[i] = p->value[i].value;
    }
    p->median = stats_median(x, p->count);
    free(x);
    return 0;
}

/* Better by its median; those measured in more runs come first, as the others were dropped. */
static bool comes_before(const struct finding *f, size_t a, size_t b)
{
    const struct best_point *x = &f->points[a], *y = &f->points[b];
    if (x->runs != y->runs)
        return x->runs > y->runs;
    return f->sign * x->median < f->sign * y->median;
}

static void rank(const struct finding *f, struct best_answer *out)
{
    out->best = out->second = f->count;
    for (size_t i = 0; i < f->count; i++) {
        if (f->points[i].count == 0)
            continue;
        if (out->best == f->count || comes_before(f, i, out->best)) {
            out->second = out->best;
            out->best = i;
        } else if (out->second == f->count || comes_before(f, i, out->second)) {
            out->second = i;
        }
    }
}

/* How much worse a point is than the best by median, over the runs that measured both. */
static double behind(struct finding *f, size_t best, size_t point)
{
    struct pair *s = &f->pair;
    compare(f, best, point);
    return s->n > 0 && s->m > 0 ? expm1(stats_median(s->y, s->m) - stats_median(s->x, s->n)) : (double)NAN;
}

static double squared_error(const double *x, size_t n)
{
    return pow(stats_sd(x, n) * stats_median_error(n), 2);
}

/* The interval of the second's distance, with Welch's degrees of freedom. */
static void find_margin(struct finding *f, struct best_answer *out)
{
    struct pair *s = &f->pair;
    out->margin = out->low = out->high = NAN;
    if (out->second == f->count)
        return;
    out->margin = behind(f, out->best, out->second);
    if (s->n < 2 || s->m < 2)
        return;
    double a = squared_error(s->x, s->n), b = squared_error(s->y, s->m);
    double df = (a + b) * (a + b) / (a * a / (double)(s->n - 1) + b * b / (double)(s->m - 1));
    double half = a + b > 0 ? stats_t_limit(1 - 0.95, df) * sqrt(a + b) : 0;
    out->low = expm1(log1p(out->margin) - half);
    out->high = expm1(log1p(out->margin) + half);
}

static void find_distances(struct finding *f, const struct best_answer *out)
{
    for (size_t i = 0; i < f->count; i++)
        f->points[i].behind = out->best < f->count ? behind(f, out->best, i) : (double)NAN;
}

static void conclude(const struct finding *f, struct best_answer *out)
{
    double worst = 0;
    out->candidates = 0;
    for (size_t i = 0; i < f->count; i++) {
        out->candidates += f->points[i].candidate;
        if (i != out->best && f->points[i].count > 0)
            worst = fmax(worst, f->points[i].p);
    }
    bool sole = out->candidates == 1 && out->second < f->count && f->points[out->best].candidate;
    out->sure = sole ? 1 - fmin(1, 2 * worst) : (double)NAN;
}

int best_find(struct best_point *points, size_t count, enum metric_better better, size_t runs,
              struct best_answer *out, struct err *err)
{
    struct finding f = {
        .points = points, .count = count, .runs = runs, .sign = better == METRIC_MORE ? -1 : 1};
    size_t most = 0;
    int rc = 0;
    for (size_t i = 0; i < count; i++)
        most = points[i].count > most ? points[i].count : most;
    f.pair = (struct pair){.x = calloc(most + 1, sizeof(double)), .y = calloc(most + 1, sizeof(double))};
    if (!f.pair.x || !f.pair.y)
        rc = err_set(err, ERR_INTERNAL, "no memory for the points");
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = describe(&points[i], err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rule_out(&f, i);
    if (rc == 0) {
        rank(&f, out);
        find_distances(&f, out);
        find_margin(&f, out);
        conclude(&f, out);
    }
    free(f.pair.x);
    free(f.pair.y);
    return rc;
}
