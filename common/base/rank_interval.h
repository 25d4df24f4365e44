/* rank_interval: the median of a few values and its interval, without assumptions about how the values are
 * distributed. Pure; both programs decide by it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct rank_interval {
    double median, low, high;
};

/* Gives the interval between two order statistics, the k-th value from either end: it covers the true median
 * with probability 1 - 2 P(B <= k - 1), B binomial (n, 1/2). (Conover, Practical Nonparametric Statistics,
 * 3rd ed., section 3.2.) Returns false when there are too few values for the confidence: fewer than 6 for
 * 0.95. x is not modified. */
bool rank_interval_of(const double *x, size_t n, double confidence, struct rank_interval *out);
