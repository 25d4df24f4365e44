#include "results/judge/median_interval.h"

#include "results/stats/stats.h"

#include <math.h>

enum { ROUNDS = 2000 };
static const double confidence = 0.95;

struct median_interval median_interval(const double *x, size_t n)
{
    const double one = 1;
    struct stats_rng rng;
    if (n < MEDIAN_INTERVAL_MIN)
        return (struct median_interval){NAN, NAN};
    stats_rng_seed(&rng, 1);
    struct stats_interval i = stats_bootstrap_ratio(&one, 1, x, n, confidence, ROUNDS, &rng);
    return (struct median_interval){i.low, i.high};
}
