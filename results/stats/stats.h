/* stats: the arithmetic of comparisons, pure and without units.
 *
 * Knows nothing of runs or cells and keeps no state: random numbers come from the caller's struct stats_rng,
 * so that the same data and seed give the same result everywhere. Inputs are finite; results that are
 * undefined are NaN.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A small counter-based generator (splitmix64). */
struct stats_rng {
    uint64_t state;
};

void stats_rng_seed(struct stats_rng *r, uint64_t seed);
uint64_t stats_rng_next(struct stats_rng *r);
/* Uniform in [0, n), n > 0, without modulo bias. */
uint64_t stats_rng_below(struct stats_rng *r, uint64_t n);
/* Uniform in [0, 1). */
double stats_rng_unit(struct stats_rng *r);
/* Standard normal. */
double stats_rng_normal(struct stats_rng *r);

double stats_mean(const double *x, size_t n);
double stats_sd(const double *x, size_t n); /* ddof 1; NaN below 2 values */
/* The standard error of the median of n normal values, as a multiple of their standard deviation. n > 0. */
double stats_median_error(size_t n);
/* x is not modified; NaN for n = 0. */
double stats_median(const double *x, size_t n);
double stats_mad(const double *x, size_t n);                /* about the median, not scaled */
double stats_quantile(const double *x, size_t n, double q); /* linear between order statistics */

/* Two-sided p of the Mann-Whitney U test: exact (permutation of the ranks, with ties) up to n, m = 20, normal
 * approximation with tie correction above. NaN if n or m is 0. */
double stats_mann_whitney(const double *x, size_t n, const double *y, size_t m);
/* The smallest p possible with these sizes: below 4 per side it never reaches 0.05. */
double stats_mann_whitney_floor(size_t n, size_t m);

/* Percentile bootstrap interval of median(y) / median(x). */
struct stats_interval {
    double low;
    double high;
};
struct stats_interval stats_bootstrap_ratio(const double *x, size_t n, const double *y, size_t m,
                                            double confidence, size_t rounds, struct stats_rng *rng);

/* Relative standard error of a / b from the relative errors of both. */
double stats_ratio_error(double rel_a, double rel_b);
/* The same of the ratio of two medians, of n_a and n_b values with these relative standard deviations. NaN
 * stands for that of a side with one value, which is taken to vary as the other does; NaN if both are. */
double stats_median_ratio_error(double sd_a, size_t n_a, double sd_b, size_t n_b);

/* Benjamini-Hochberg: p[i] -> the smallest false-discovery rate at which i is significant. NaN entries are
 * left out. */
void stats_benjamini_hochberg(const double *p, size_t n, double *adjusted);

/* Fits t = a * n^k by least squares on logarithms; all inputs positive. False with fewer than 2 distinct n.
 * residual: RMS in log units (ddof 2), NaN with fewer than 3 points. */
bool stats_power_fit(const double *n, const double *t, size_t count, double *a, double *k, double *residual);

/* Two-sided p of Student's t with df degrees of freedom. */
double stats_t_p(double t, double df);
/* The t that has this two-sided p: the inverse of stats_t_p(). 0 < p < 1. */
double stats_t_limit(double p, double df);
/* Two-sided p of Welch's t-test for equal means, with ddof 1 and unequal variances; NaN below 2 values per
 * side. */
double stats_welch(const double *x, size_t n, const double *y, size_t m);

/* Two-sided p of the standard normal. */
double stats_normal_p(double z);
/* The value below which a standard normal value lies with probability p, 0 < p < 1. */
double stats_normal_quantile(double p);

/* Values more than `limit` MADs from the median. Returns how many; marks may be NULL. */
size_t stats_outliers(const double *x, size_t n, double limit, bool *marks);
