/* median_interval: where the median of some values lies, at 95 %, by the bootstrap. Pure. */
#pragma once

#include <stddef.h>

enum { MEDIAN_INTERVAL_MIN = 5 }; /* fewer values have none */

struct median_interval {
    double low, high; /* NaN with too few values */
};

/* The same values give the same interval. */
struct median_interval median_interval(const double *x, size_t n);
