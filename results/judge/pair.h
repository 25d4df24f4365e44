/* pair: whether two sides that were measured in one session differ, and by how much.
 *
 * The one estimate under `ab`, confirming, `bisect`, `bench`, tables of variants and `best`; what a feature
 * asks for is in the alpha and the threshold that it gives. Pure.
 */
#pragma once

#include <stddef.h>

/* The values of both sides. Borrowed. */
struct pair {
    const double *base, *now;
    size_t base_n, now_n;
};

struct pair_estimate {
    double ratio;   /* of the medians, now / base; NaN unless both are positive */
    double error;   /* its relative standard error; NaN if neither side has two values. A side with one value
                       is taken to vary as the other does. Of eight values or more, it follows from their order,
                       and no   outlier widens it */
    double freedom; /* degrees of freedom of the error; NaN without one */
    double alpha;   /* the level at which it was asked */
    double p; /* of the ranks (Mann-Whitney, two-sided); NaN if those of so many values cannot reach alpha */
};

struct pair_estimate pair_estimate(const struct pair *v, double alpha);

/* How far the interval of the ratio's logarithm reaches to either side, at 1 - alpha: the standard error
 * times Student's t. NaN without a standard error. */
double pair_reach(const struct pair_estimate *e);

/* The two-sided p that both sides are the same: the larger of those of Student's t and of the ranks, since
 * the medians of values in one of two states may be of either, whatever their standard error. 0 without a
 * standard error, 1 without a ratio. */
double pair_p(const struct pair_estimate *e);

enum pair_answer { PAIR_OPEN, PAIR_SAME, PAIR_LESS, PAIR_MORE };

/* LESS or MORE if the ratio is beyond the threshold (a fraction; as far for 1/4 as for 4) and pair_p() at
 * most alpha; SAME if neither the ratio nor the reach of its interval exceeds the threshold. */
enum pair_answer pair_differ(const struct pair_estimate *e, double threshold);

/* The share of the values of a side, of the worse one, that lie on the other side of `middle` (a ratio to the
 * base's median) between the two; 0 without a ratio. */
double pair_mixed(const struct pair *v, double ratio, double middle);
