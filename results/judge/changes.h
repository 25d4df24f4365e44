/* changes: finds the points at which the level of a series changed.
 *
 * E-divisive: the split with the largest energy distance between its two sides is a candidate. It is accepted
 * if a t-test (pooled variance, ddof 1) and the size of the step are significant; then both sides are
 * searched recursively. Finally every change is tested again between its neighbours, the weakest first,
 * because later splits may have made an early one insignificant. Pure. A segment has at least
 * CHANGES_SEGMENT_MIN points, so that a single outlier is no change.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_CHANGES_H
#define KERNSWEEP_RESULTS_JUDGE_CHANGES_H

#include "common/base/err.h"

#include <stddef.h>

enum { CHANGES_SEGMENT_MIN = 2, CHANGES_POINTS_MAX = 2000 };

struct change {
    size_t at;     /* index of the first point of the new level */
    double before; /* mean of the segment before it */
    double after;
    double ratio; /* after / before */
    double p;
};

struct changes {
    struct change *items; /* in order */
    size_t count;
    size_t from; /* first point that was searched: only the newest CHANGES_POINTS_MAX are */
};

struct changes_options {
    double p;         /* default 0.001 */
    double magnitude; /* smallest relative step; default 0.02 */
};

struct changes_options changes_defaults(void);

int changes_find(const double *x, size_t n, const struct changes_options *o, struct changes *out,
                 struct err *err);
void changes_release(struct changes *c);

#endif
