#include "results/judge/search/best.h"

#include "common/base/alloc.h"
#include "results/judge/pair.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* This is one-sided; the limit of the estimate is two-sided. */
static const double alpha = 0.025;

struct finding {
    struct best_point *points;
    size_t count, runs;
    double sign;   /* -1: more is better */
    double least;  /* the smallest difference that counts */
    double *x, *y; /* room for the values of two points */
};

static bool measured_in(const struct best_point *p, size_t run)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->value[i].run == run)
            return true;
    return false;
}

static size_t take_shared(const struct best_point *p, const struct best_point *with, double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (measured_in(with, p->value[i].run))
            out[n++] = p->value[i].value;
    return n;
}

/* The values of both points in the runs that measured both. */
static struct pair pair_of(const struct finding *f, size_t base, size_t now)
{
    struct pair v = {.base = f->x, .now = f->y};
    v.base_n = take_shared(&f->points[base], &f->points[now], f->x);
    v.now_n = take_shared(&f->points[now], &f->points[base], f->y);
    return v;
}

static size_t fewest(const struct pair *v)
{
    return v->base_n < v->now_n ? v->base_n : v->now_n;
}

/* The adjusted one-sided p that a is as good as b or better; 1 if that cannot be judged. */
static double p_as_good(const struct finding *f, size_t a, size_t b)
{
    double questions = (double)(f->count - 1) * (double)f->runs;
    const struct pair v = pair_of(f, b, a);
    if (fewest(&v) < BEST_VALUES_MIN)
        return 1;
    const struct pair_estimate e = pair_estimate(&v, 2 * alpha / questions);
    if (!(f->sign * log(e.ratio) > 0))
        return 1;
    return fmin(1, pair_p(&e) / 2 * questions);
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

static void describe(const struct finding *f, struct best_point *p)
{
    p->runs = 0;
    for (size_t i = 0; i < p->count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++)
            seen = seen || p->value[j].run == p->value[i].run;
        p->runs += !seen;
        f->x[i] = p->value[i].value;
    }
    p->median = stats_median(f->x, p->count);
}

/* Points measured in more runs come first, since the others were dropped; then the better median. */
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

/* How much worse a point is than the best, over the runs that measured both. */
static double behind(const struct finding *f, const struct pair_estimate *e)
{
    return expm1(f->sign * log(e->ratio));
}

static void find_margin(const struct finding *f, struct best_answer *out)
{
    out->margin = out->low = out->high = NAN;
    if (out->second == f->count)
        return;
    const struct pair v = pair_of(f, out->best, out->second);
    const struct pair_estimate e = pair_estimate(&v, 2 * alpha);
    out->margin = behind(f, &e);
    if (v.base_n < 2 || v.now_n < 2)
        return;
    double reach = e.error > 0 ? pair_reach(&e) : 0;
    out->low = expm1(log1p(out->margin) - reach);
    out->high = expm1(log1p(out->margin) + reach);
}

/* Whether every value of now is worse than all of base by more than the least difference. */
static bool is_beyond(const struct finding *f, const struct pair *v)
{
    double worst = -INFINITY, best = INFINITY;
    for (size_t i = 0; i < v->base_n; i++)
        worst = fmax(worst, f->sign * v->base[i]);
    for (size_t i = 0; i < v->now_n; i++)
        best = fmin(best, f->sign * v->now[i]);
    return fewest(v) > 0 && best - worst > f->least;
}

static void find_distances(const struct finding *f, struct best_answer *out)
{
    out->untested = out->fewest = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct pair v = out->best < f->count ? pair_of(f, out->best, i) : (struct pair){0};
        const struct pair_estimate e = pair_estimate(&v, 2 * alpha);
        struct best_point *p = &f->points[i];
        p->behind = behind(f, &e);
        p->untested = p->candidate && i != out->best && fewest(&v) < BEST_VALUES_MIN;
        p->beyond = p->untested && is_beyond(f, &v);
        if (p->untested && (out->untested++ == 0 || fewest(&v) < out->fewest))
            out->fewest = fewest(&v);
    }
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

void best_find(struct best_point *points, size_t count, enum metric_better better, double least, size_t runs,
               struct best_answer *out)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = points[i].count > most ? points[i].count : most;
    AUTO_FREE double *room = xcalloc(2 * most, sizeof *room);
    struct finding f = {.points = points,
                        .count = count,
                        .runs = runs,
                        .sign = better == METRIC_MORE ? -1 : 1,
                        .least = least,
                        .x = room,
                        .y = room + most};
    for (size_t i = 0; i < count; i++)
        describe(&f, &points[i]);
    for (size_t i = 0; i < count; i++)
        rule_out(&f, i);
    rank(&f, out);
    find_distances(&f, out);
    find_margin(&f, out);
    conclude(&f, out);
}
