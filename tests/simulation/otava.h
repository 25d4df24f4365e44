/* otava: change points as Apache Otava (formerly Hunter) finds them, to compare with.
 *
 * Written from the description: Fleming et al., "Hunter: Using Change Point Detection to Hunt for Performance
 * Regressions" (arXiv 2301.03034), and docs/MATH.md of Otava. Windows of 50 values, overlapping by half; in
 * each the pair (tau, kappa) with the largest divergence (Matteson and James 2014) is a candidate; Student's
 * t-test accepts it at ten times the p that is asked for; then weak points are merged away until all have
 * that p and the least magnitude. As in Otava, a segment may be a single value and deviations have ddof 0.
 */
#pragma once

#include <stddef.h>

struct otava_options {
    size_t window;
    double p;
    double magnitude; /* smallest relative change */
};

/* 50, 0.001, 0.02. */
struct otava_options otava_defaults(void);

struct otava_point {
    size_t at;            /* first value of the new level */
    double before, after; /* means */
    double p;
};

/* Returns how many; out has room for n. Aborts without memory. */
size_t otava_find(const double *x, size_t n, const struct otava_options *o, struct otava_point *out);
