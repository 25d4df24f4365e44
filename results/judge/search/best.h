/* best: which of several points may be the best one, and how certain that is. Pure.
 *
 * A point is ruled out when some other point is better than it by a one-sided test at 2.5 %, divided by the
 * number of the other points and of the looks at them (Bonferroni). So the point that is truly best is ruled
 * out in at most 2.5 % of all such questions, and one of two equal points is called the winner in at most
 * 5 %: what is controlled is the choice of the subset, not that of the winner (Gupta 1965, "On some multiple
 * decision rules"). The test is that of pair.h, over the runs that measured both points, so that drift of a
 * node between runs decides nothing. Nothing is ruled out by or with fewer than BEST_VALUES_MIN values: such
 * a point is untested, which is no sign that it is as good as the best.
 */
#pragma once

#include "results/store/metric.h"

enum { BEST_VALUES_MIN = 3 };

struct best_value {
    double value; /* positive */
    size_t run;   /* index of the run that measured it */
};

struct best_point {
    const struct best_value *value; /* borrowed */
    size_t count;
    /* filled in: */
    double median;    /* NaN without values */
    double behind;    /* how much worse than the best, over the runs that measured both; NaN: unknown */
    size_t runs;      /* how many measured it */
    bool candidate;   /* not ruled out */
    bool untested;    /* a candidate, as it and the best have too few values in common runs */
    bool beyond;      /* an untested one, each of whose values is worse than all of the best's by more than
                         `least` */
    size_t beaten_by; /* by which point it is ruled out most clearly; itself: by none */
    double p;         /* that it is as good, adjusted; 1 for a candidate that nothing speaks against */
};

struct best_answer {
    size_t best, second; /* by median, among those measured in the most runs; the number of points: none */
    size_t candidates;
    size_t untested;  /* of the candidates */
    size_t fewest;    /* values that an untested one or the best has in their common runs */
    double margin;    /* how much worse the second is: 0.02 = 2 %; NaN without one */
    double low, high; /* 95 % interval of that; NaN when unknown */
    double sure;      /* 1 - p that the best is not it alone, adjusted; NaN unless it is the only candidate */
};

/* runs: how often the points were looked at while they were measured, at least 1. least: no smaller
 * difference counts, in the unit of the values. */
void best_find(struct best_point *points, size_t count, enum metric_better better, double least, size_t runs,
               struct best_answer *out);
