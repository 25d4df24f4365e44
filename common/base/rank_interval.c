#include "common/base/rank_interval.h"

#include "common/base/alloc.h"
#include "common/base/values.h"

#include <math.h>

/* Returns the largest k with 2 P(B <= k - 1) <= 1 - confidence; 0: none. */
static size_t rank_for(size_t n, double confidence)
{
    double p = pow(0.5, (double)n), below = 0; /* P(B = k), P(B <= k - 1) */
    size_t k = 0;
    while (k < n / 2 && 2 * (below + p) <= 1 - confidence) {
        below += p;
        p *= (double)(n - k) / (double)(k + 1);
        k++;
    }
    return k;
}

bool rank_interval_of(const double *x, size_t n, double confidence, struct rank_interval *out)
{
    size_t k = n > 0 ? rank_for(n, confidence) : 0;
    if (k == 0)
        return false;
    AUTO_FREE double *sorted = xmemdup(x, n * sizeof *sorted);
    values_sort(sorted, n);
    *out = (struct rank_interval){
        .median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2,
        .low = sorted[k - 1],
        .high = sorted[n - k],
    };
    return true;
}
