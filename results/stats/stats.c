#include "results/stats/stats.h"

#include "common/base/alloc.h"
#include "common/base/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_MAX = 20 };

void stats_rng_seed(struct stats_rng *r, uint64_t seed)
{
    r->state = seed;
}

uint64_t stats_rng_next(struct stats_rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t stats_rng_below(struct stats_rng *r, uint64_t n)
{
    /* Reject values below 2^64 mod n: they would bias the result. */
    uint64_t reject = (0 - n) % n;
    uint64_t x;
    do
        x = stats_rng_next(r);
    while (x < reject);
    return x % n;
}

double stats_rng_unit(struct stats_rng *r)
{
    return (double)(stats_rng_next(r) >> 11) * 0x1p-53;
}

double stats_rng_normal(struct stats_rng *r)
{
    double u = 1.0 - stats_rng_unit(r); /* (0, 1] */
    double v = stats_rng_unit(r);
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}

double stats_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : NAN;
}

double stats_sd(const double *x, size_t n)
{
    if (n < 2)
        return NAN;
    double mean = stats_mean(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sqrt(sum / (double)(n - 1));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* In order from the place of the quantile on to the next one. */
static void order_about(double *x, size_t n, double q)
{
    size_t low = (size_t)(q * (double)(n - 1));
    values_select(x, n, low);
    if (low + 1 < n)
        values_select(x + low + 1, n - low - 1, 0);
}

static double sorted_quantile(const double *x, size_t n, double q)
{
    double pos = q * (double)(n - 1);
    size_t low = (size_t)pos;
    if (low + 1 >= n)
        return x[n - 1];
    return x[low] + (pos - (double)low) * (x[low + 1] - x[low]);
}

double stats_quantile(const double *x, size_t n, double q)
{
    if (n == 0)
        return NAN;
    double few[64];
    double *copy = n <= 64 ? few : xmalloc(n * sizeof *copy);
    memcpy(copy, x, n * sizeof *copy);
    if (copy == few)
        values_sort(copy, n);
    else
        order_about(copy, n, q);
    double result = sorted_quantile(copy, n, q);
    if (copy != few)
        free(copy);
    return result;
}

double stats_median(const double *x, size_t n)
{
    return stats_quantile(x, n, 0.5);
}

double stats_mad(const double *x, size_t n)
{
    if (n == 0)
        return NAN;
    double few[64];
    double *away = n <= 64 ? few : xmalloc(n * sizeof *away);
    double median = stats_median(x, n);
    for (size_t i = 0; i < n; i++)
        away[i] = fabs(x[i] - median);
    double result = stats_median(away, n);
    if (away != few)
        free(away);
    return result;
}

struct ranked {
    double value;
    bool first; /* of the first sample */
};

static int by_ranked(const void *a, const void *b)
{
    return by_value(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

/* Computes the doubled midranks (integers even with ties) of both samples together, their sum over the first
 * one, and the sum of t^3 - t over the groups of ties. */
static void rank_both(struct ranked *all, size_t total, unsigned *rank2, unsigned *sum2, double *ties)
{
    qsort(all, total, sizeof *all, by_ranked);
    *sum2 = 0;
    *ties = 0;
    for (size_t i = 0; i < total;) {
        size_t j = i;
        while (j < total && all[j].value == all[i].value)
            j++;
        double t = (double)(j - i);
        *ties += t * t * t - t;
        for (size_t k = i; k < j; k++) {
            rank2[k] = (unsigned)(i + 1 + j);
            if (all[k].first)
                *sum2 += rank2[k];
        }
        i = j;
    }
}

/* The fraction of all choices of n ranks whose sum is at least as far from its mean as sum2. */
static double exact_p(const unsigned *rank2, size_t n, size_t m, unsigned sum2)
{
    size_t total = n + m, top = total * (total + 1);
    AUTO_FREE double *ways = xcalloc((n + 1) * (top + 1), sizeof *ways);
    ways[0] = 1;
    for (size_t i = 0; i < total; i++)
        for (size_t k = i + 1 < n ? i + 1 : n; k > 0; k--)
            for (size_t s = top; s >= rank2[i]; s--)
                ways[k * (top + 1) + s] += ways[(k - 1) * (top + 1) + s - rank2[i]];
    long mean = (long)(n * (total + 1)), away = labs((long)sum2 - mean);
    double all = 0, extreme = 0;
    for (size_t s = 0; s <= top; s++) {
        double w = ways[n * (top + 1) + s];
        all += w;
        if (labs((long)s - mean) >= away)
            extreme += w;
    }
    return extreme / all;
}

static double approximate_p(size_t n, size_t m, unsigned sum2, double ties)
{
    double a = (double)n, b = (double)m, total = a + b;
    double mean = a * (total + 1) / 2;
    double variance = a * b / 12 * (total + 1 - ties / (total * (total - 1)));
    if (!(variance > 0))
        return 1;
    double away = fabs((double)sum2 / 2 - mean) - 0.5; /* continuity correction */
    return away <= 0 ? 1 : stats_normal_p(away / sqrt(variance));
}

double stats_mann_whitney(const double *x, size_t n, const double *y, size_t m)
{
    if (n == 0 || m == 0 || n > 1000000 || m > 1000000)
        return NAN;
    size_t total = n + m;
    AUTO_FREE struct ranked *all = xmalloc(total * sizeof *all);
    AUTO_FREE unsigned *rank2 = xmalloc(total * sizeof *rank2);
    unsigned sum2;
    double ties;
    for (size_t i = 0; i < total; i++)
        all[i] = (struct ranked){i < n ? x[i] : y[i - n], i < n};
    rank_both(all, total, rank2, &sum2, &ties);
    return n <= EXACT_MAX && m <= EXACT_MAX ? exact_p(rank2, n, m, sum2) : approximate_p(n, m, sum2, ties);
}

double stats_mann_whitney_floor(size_t n, size_t m)
{
    /* Two of the C(n + m, n) orders are extreme. */
    double ways = 1;
    for (size_t i = 1; i <= n; i++)
        ways *= (double)(m + i) / (double)i;
    return n == 0 || m == 0 ? 1 : fmin(1, 2 / ways);
}

static double resampled_median(const double *x, size_t n, double *scratch, struct stats_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        scratch[i] = x[stats_rng_below(rng, n)];
    values_sort(scratch, n);
    return sorted_quantile(scratch, n, 0.5);
}

struct stats_interval stats_bootstrap_ratio(const double *x, size_t n, const double *y, size_t m,
                                            double confidence, size_t rounds, struct stats_rng *rng)
{
    size_t most = n > m ? n : m;
    if (n == 0 || m == 0 || rounds == 0)
        return (struct stats_interval){NAN, NAN};
    AUTO_FREE double *scratch = xmalloc((most + rounds) * sizeof *scratch);
    double *ratios = scratch + most;
    for (size_t i = 0; i < rounds; i++) {
        double below = resampled_median(x, n, scratch, rng);
        ratios[i] = resampled_median(y, m, scratch, rng) / below;
    }
    values_sort(ratios, rounds);
    double tail = (1 - confidence) / 2;
    return (struct stats_interval){sorted_quantile(ratios, rounds, tail),
                                   sorted_quantile(ratios, rounds, 1 - tail)};
}

double stats_ratio_error(double rel_a, double rel_b)
{
    return sqrt(rel_a * rel_a + rel_b * rel_b);
}

double stats_median_ratio_error(double sd_a, size_t n_a, double sd_b, size_t n_b)
{
    if (n_a == 0 || n_b == 0)
        return NAN;
    double a = isnan(sd_a) ? sd_b : sd_a, b = isnan(sd_b) ? sd_a : sd_b;
    return stats_ratio_error(a * stats_median_error(n_a), b * stats_median_error(n_b));
}

struct indexed_p {
    double p;
    size_t index;
};

static int by_p(const void *a, const void *b)
{
    return by_value(&((const struct indexed_p *)a)->p, &((const struct indexed_p *)b)->p);
}

void stats_benjamini_hochberg(const double *p, size_t n, double *adjusted)
{
    AUTO_FREE struct indexed_p *order = xmalloc(n * sizeof *order);
    size_t tested = 0;
    for (size_t i = 0; i < n; i++) {
        adjusted[i] = NAN;
        if (!isnan(p[i]))
            order[tested++] = (struct indexed_p){p[i], i};
    }
    qsort(order, tested, sizeof *order, by_p);
    double least = 1;
    for (size_t k = tested; k-- > 0;) {
        least = fmin(least, order[k].p * (double)tested / (double)(k + 1));
        adjusted[order[k].index] = least;
    }
}

bool stats_power_fit(const double *n, const double *t, size_t count, double *a, double *k, double *residual)
{
    double mean_x = 0, mean_y = 0, sxx = 0, sxy = 0, rss = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += log(n[i]) / (double)count;
        mean_y += log(t[i]) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        sxx += (log(n[i]) - mean_x) * (log(n[i]) - mean_x);
        sxy += (log(n[i]) - mean_x) * (log(t[i]) - mean_y);
    }
    if (count < 2 || !(sxx > 0))
        return false;
    *k = sxy / sxx;
    *a = exp(mean_y - *k * mean_x);
    for (size_t i = 0; i < count; i++)
        rss += pow(log(t[i]) - log(*a) - *k * log(n[i]), 2);
    *residual = count > 2 ? sqrt(rss / (double)(count - 2)) : NAN;
    return true;
}

double stats_normal_p(double z)
{
    return erfc(fabs(z) / M_SQRT2);
}

double stats_median_error(size_t n)
{
    /* These are errors times sqrt(n), from the moments of normal order statistics. */
    static const double exact[] = {1, 1, 1.1602, 1.0921, 1.1976, 1.1350, 1.2137, 1.1590, 1.2226, 1.1740};
    double factor = n <= sizeof exact / sizeof *exact ? exact[n - 1] : sqrt(M_PI_2) - 0.3 / (double)n;
    return factor / sqrt((double)n);
}

/* Newton's method for the logarithm of the tail beyond z, which is concave: after one step it nears the
 * quantile from one side. */
double stats_normal_quantile(double p)
{
    double tail = fmin(p, 1 - p), z = 0;
    if (!(p > 0 && p < 1))
        return NAN;
    for (int i = 0; i < 100; i++) {
        double at = erfc(z / M_SQRT2) / 2, density = exp(-z * z / 2) / sqrt(2 * M_PI);
        double step = fmin(log(at / tail) * at / density, 1 + z);
        z += step;
        if (fabs(step) < 1e-10)
            break;
    }
    return p < 0.5 ? -z : z;
}

size_t stats_outliers(const double *x, size_t n, double limit, bool *marks)
{
    double median = stats_median(x, n), mad = stats_mad(x, n);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        bool far = n >= 3 && mad > 0 && fabs(x[i] - median) / mad > limit;
        if (marks)
            marks[i] = far;
        found += far;
    }
    return found;
}
