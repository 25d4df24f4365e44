/* changes: when a series changed its level, not whether tonight is slower.
 *
 * E-divisive: the split with the largest energy distance between its two sides is a candidate; it stands when
 * a t-test (common variance, ddof 1) and the size of the step say so, and then both sides are searched in
 * turn. Last, every change is tested again between its neighbours, the weakest first, so that one found early
 * is not kept alive by a later one. Pure; segments have at least CHANGES_SEGMENT_MIN points, so one odd night
 * is no change.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_CHANGES_H
#define KERNSWEEP_RESULTS_JUDGE_CHANGES_H

#include "common/base/err.h"

#include <stddef.h>

enum { CHANGES_SEGMENT_MIN = 2, CHANGES_POINTS_MAX = 2000 };

struct change {
    size_t at;     /* index of the first point of the new level */
    double before; /* means of the segments on both sides */
    double after;
    double ratio; /* after / before */
    double p;
};

struct changes {
    struct change *items; /* by place */
    size_t count;
    size_t from; /* points before this one were left out: a longer series is searched in its newest part */
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
