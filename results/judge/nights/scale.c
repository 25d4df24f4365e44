#include "results/judge/nights/scale.h"

#include "common/base/alloc.h"
#include "common/base/values.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>

/* Values that come in steps repeat; two different values alone do not show whether they are steps. */
enum { POINTS_MIN = 3, DISTINCT_MIN = 3, REPEATED_MIN = 2, PRIOR_CELLS_MIN = 6, PRIOR_MOST = 40 };

/* What the root mean square of standard normal values becomes when the share `dropped` with the largest
 * magnitudes is left out. */
static double trimmed_rms(double dropped)
{
    double kept = 1 - dropped, z = stats_normal_quantile((1 + kept) / 2);
    return sqrt(1 - 2 * z * exp(-z * z / 2) / sqrt(2 * M_PI) / kept);
}

double scale_of_most(double *d, size_t n)
{
    if (n == 0)
        return 0;
    size_t dropped = (n + 9) / 10, kept = n - dropped;
    double squares = 0;
    values_sort(d, n);
    for (size_t i = 0; i < kept; i++)
        squares += d[i] * d[i];
    return sqrt(squares / (double)kept) / trimmed_rms((double)dropped / (double)n);
}

/* Magnitudes, of points that are not skipped. */
static size_t differences(const double *y, const bool *skip, size_t n, double *d)
{
    double last = NAN;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (skip && skip[i])
            continue;
        if (!isnan(last))
            d[count++] = fabs(y[i] - last);
        last = y[i];
    }
    return count + 1 < POINTS_MIN ? 0 : count;
}

double scale_of_steps(const double *y, const bool *skip, size_t n)
{
    AUTO_FREE double *d = xmalloc((n + 1) * sizeof *d);
    size_t count = differences(y, skip, n, d);
    return scale_of_most(d, count) * M_SQRT1_2;
}

double scale_of_calm(const double *y, const bool *skip, size_t n)
{
    AUTO_FREE double *d = xmalloc((n + 1) * sizeof *d);
    size_t count = differences(y, skip, n, d);
    return count ? 1.4826 * stats_median(d, count) * M_SQRT1_2 : 0;
}

double scale_quantum(const double *x, size_t n)
{
    AUTO_FREE double *sorted = xmalloc((n + 1) * sizeof *sorted);
    double least = INFINITY;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0 && isfinite(x[i]))
            sorted[count++] = x[i];
    values_sort(sorted, count);
    size_t distinct = count > 0;
    for (size_t i = 1; i < count; i++) {
        double step = (sorted[i] - sorted[i - 1]) / sorted[i];
        if (step <= 1e-9)
            continue;
        distinct++;
        least = fmin(least, step);
    }
    return distinct >= DISTINCT_MIN && distinct + REPEATED_MIN <= count ? least : 0;
}

/* The second derivative of log gamma: the variance of the logarithm of a variance with 2 x degrees of
 * freedom. */
static double trigamma(double x)
{
    enum { SHIFT = 6 }; /* the series is exact enough from there on */
    double sum = 0, far = x + SHIFT, r = 1 / (far * far);
    for (int i = 0; i < SHIFT; i++)
        sum += 1 / ((x + i) * (x + i));
    return sum + 1 / far + r / 2 + r / far * (1.0 / 6 - r / 30);
}

double scale_prior(const double *log_s, const double *v, size_t n)
{
    if (n < PRIOR_CELLS_MIN)
        return SCALE_PRIOR_LEAST;
    double sd = 2 * stats_sd(log_s, n), explained = 0, low = SCALE_PRIOR_LEAST, high = PRIOR_MOST;
    for (size_t i = 0; i < n; i++)
        explained += trigamma(v[i] / 2) / (double)n;
    double excess = sd * sd - explained;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        *(trigamma(middle / 2) > excess ? &low : &high) = middle;
    }
    return low;
}

/* The median of chi squared with v degrees of freedom, divided by v (Wilson and Hilferty). */
static double median_of_variance(int v)
{
    double c = 1 - 2.0 / (9 * v);
    return c * c * c;
}

double scale_within(const double *within, const int *n, size_t nights)
{
    AUTO_FREE double *variances = xmalloc((nights + 1) * sizeof *variances);
    size_t count = 0;
    for (size_t i = 0; i < nights; i++)
        if (n[i] > 1 && within[i] > 0)
            variances[count++] = within[i] * within[i] / median_of_variance(n[i] - 1);
    return count ? sqrt(stats_median(variances, count)) : 0;
}
