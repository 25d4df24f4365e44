/* scale: how far the nights of a series lie from their level, robustly and without knowing the level.
 *
 * On logarithms (y), so that scales are relative. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Scales below this are not believed: clocks and the nights ahead are not that exact. */
#define SCALE_LEAST 0.0005

/* Root mean square of n deviations without the largest tenth, made unbiased for normal ones. d: their
 * magnitudes; is sorted. 0 if n is 0. */
double scale_of_most(double *d, size_t n);

/* From the differences of successive points, of which the largest tenth is left out because a change of level
 * may be behind it; skip[i] (may be NULL) leaves a point out. 0 with fewer than 3 points. */
double scale_of_steps(const double *y, const bool *skip, size_t n);

/* The same from the median of the differences, to which spikes of a night do not count however many there
 * are. */
double scale_of_calm(const double *y, const bool *skip, size_t n);

/* The smallest difference between two different values, relative to their level: the resolution of a clock
 * that counts in ticks, or of rounded output. x are positive values, not logarithms. 0 where values do not
 * repeat each other, or fewer than three differ. */
double scale_quantum(const double *x, size_t n);

/* How many degrees of freedom the scale that all cells have in common is worth beside a cell's own (Smyth,
 * Statistical Applications in Genetics and Molecular Biology 3, 2004): many where the scales s differ by no
 * more than their degrees v explain, few where the cells differ. At least SCALE_PRIOR_LEAST, which it also is
 * with fewer than six cells. log_s is their logarithms. */
#define SCALE_PRIOR_LEAST 4.0
double scale_prior(const double *log_s, const double *v, size_t n);

/* Relative standard deviation of the repetitions of one night, from those of several nights (each with n[i]
 * repetitions; values that are NaN or 0 are ignored): the median of the variances, so that a night with an
 * outlier does not count. 0 if unknown. */
double scale_within(const double *within, const int *n, size_t nights);
