#include "tests/simulation/otava.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WEAK_FACTOR = 10 };

struct otava_options otava_defaults(void)
{
    return (struct otava_options){.window = 50, .p = 0.001, .magnitude = 0.02};
}

static double deviation_sum(const double *x, size_t n, double mean)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

/* Student's t-test with a pooled variance from deviations of ddof 0. */
static struct otava_point test_cut(const double *x, size_t from, size_t at, size_t to)
{
    size_t n = at - from, m = to - at;
    struct otava_point c = {
        .at = at, .before = stats_mean(x + from, n), .after = stats_mean(x + at, m), .p = 1};
    if (n + m <= 2)
        return c;
    double vx = deviation_sum(x + from, n, c.before) / (double)n;
    double vy = deviation_sum(x + at, m, c.after) / (double)m;
    double df = (double)(n + m - 2);
    double pooled = ((double)(n - 1) * vx + (double)(m - 1) * vy) / df;
    double error = sqrt(pooled * (1 / (double)n + 1 / (double)m));
    if (error > 0)
        c.p = stats_t_p((c.before - c.after) / error, df);
    else
        c.p = c.before == c.after ? 1 : 0;
    return c;
}

struct candidate {
    size_t at;
    double q;
};

/* Divergence of x[0, tau) and x[tau, kappa), from the sums of distances within both and between them. */
static double divergence(double left, double right, double between, size_t n, size_t m)
{
    double all = (double)(n + m), q = 2 / all * between;
    if (n > 1)
        q -= 2 * (double)m / (all * (double)(n - 1)) * left;
    if (m > 1)
        q -= 2 * (double)n / (all * (double)(m - 1)) * right;
    return q;
}

/* For one tau, kappa grows: the sums on the right grow with it. */
static void try_kappas(const double *x, size_t n, size_t tau, double left, struct candidate *best)
{
    double right = 0, between = 0;
    for (size_t k = tau; k < n; k++) {
        for (size_t i = 0; i < tau; i++)
            between += fabs(x[k] - x[i]);
        for (size_t i = tau; i < k; i++)
            right += fabs(x[k] - x[i]);
        double q = divergence(left, right, between, tau, k + 1 - tau);
        if (q > best->q)
            *best = (struct candidate){tau, q};
    }
}

static struct candidate best_cut(const double *x, size_t n)
{
    struct candidate best = {0, -INFINITY};
    double left = 0;
    for (size_t tau = 1; tau < n; tau++) {
        for (size_t i = 0; i + 1 < tau; i++)
            left += fabs(x[tau - 1] - x[i]);
        try_kappas(x, n, tau, left, &best);
    }
    return best;
}

/* Cuts of x[0, n), sorted; the borders of the intervals between them are 0, the cuts, and n. */
struct cuts {
    size_t *at;
    size_t count;
};

static size_t border(const struct cuts *c, size_t i, size_t n)
{
    if (i == 0)
        return 0;
    return i <= c->count ? c->at[i - 1] : n;
}

static void insert_cut(struct cuts *c, size_t at)
{
    size_t i = c->count;
    while (i > 0 && c->at[i - 1] >= at) {
        if (c->at[i - 1] == at)
            return;
        i--;
    }
    memmove(c->at + i + 1, c->at + i, (c->count - i) * sizeof *c->at);
    c->at[i] = at;
    c->count++;
}

/* Splits one window for as long as the best candidate of all its intervals is significant. */
static void split_window(const double *x, size_t n, double p, struct cuts *c)
{
    for (;;) {
        struct candidate best = {0, -INFINITY};
        size_t from = 0, to = 0;
        for (size_t i = 0; i <= c->count; i++) {
            size_t a = border(c, i, n), b = border(c, i + 1, n);
            struct candidate found = best_cut(x + a, b - a);
            if (found.q <= best.q)
                continue;
            best = (struct candidate){a + found.at, found.q};
            from = a;
            to = b;
        }
        if (isinf(best.q) || test_cut(x, from, best.at, to).p > p)
            return;
        insert_cut(c, best.at);
    }
}

static void *room_for(size_t n)
{
    void *p = calloc(n + 1, sizeof(size_t));
    if (!p) {
        fprintf(stderr, "otava: no memory for %zu values\n", n);
        abort();
    }
    return p;
}

static struct cuts split_all(const double *x, size_t n, const struct otava_options *o)
{
    struct cuts all = {.at = room_for(n)}, window = {.at = room_for(n)};
    for (size_t start = 0; start < n;) {
        size_t len = n - start < o->window ? n - start : o->window, last = 0;
        window.count = 0;
        split_window(x + start, len, WEAK_FACTOR * o->p, &window);
        for (size_t i = 0; i < window.count; i++) {
            last = start + window.at[i];
            insert_cut(&all, last);
        }
        start = last > start + o->window / 2 ? last : start + o->window / 2;
    }
    free(window.at);
    return all;
}

static double magnitude(const struct otava_point *c)
{
    double up = fabs(c->after / c->before - 1), down = fabs(c->before / c->after - 1);
    return up > down ? up : down;
}

/* The weakest point that must go, or c->count. */
static size_t weakest(const double *x, size_t n, const struct cuts *c, const struct otava_options *o)
{
    size_t worst = c->count, least = c->count;
    double p = -1, size = INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        struct otava_point t = test_cut(x, border(c, i, n), c->at[i], border(c, i + 2, n));
        if (t.p > p) {
            p = t.p;
            worst = i;
        }
        if (magnitude(&t) < size) {
            size = magnitude(&t);
            least = i;
        }
    }
    if (c->count && p >= o->p)
        return worst;
    return size <= o->magnitude ? least : c->count;
}

size_t otava_find(const double *x, size_t n, const struct otava_options *o, struct otava_point *out)
{
    struct cuts c = split_all(x, n, o);
    for (size_t i; (i = weakest(x, n, &c, o)) < c.count;) {
        memmove(c.at + i, c.at + i + 1, (c.count - i - 1) * sizeof *c.at);
        c.count--;
    }
    for (size_t i = 0; i < c.count; i++)
        out[i] = test_cut(x, border(&c, i, n), c.at[i], border(&c, i + 2, n));
    free(c.at);
    return c.count;
}
