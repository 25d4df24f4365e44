/* noise: the variation between runs of the same build, per cell, as measured by an A/A sweep
 * (measure_noise.h).
 *
 * Plain data. A comparison with too few repetitions to estimate its noise uses these spreads instead.
 * The owner calls noise_release().
 */
#pragma once

#include "results/store/run_data.h"

struct noise_cell {
    char variant[RUN_NAME_MAX];
    int context;
    enum metric metric;
    double spread; /* relative standard deviation between the runs' medians */
    double within; /* the same within a run, pooled; NaN with one repetition per run */
    int runs;
    int comparisons; /* of ordered pairs of runs */
    int alarms;      /* how many of them were regressed or improved */
};

struct noise {
    struct noise_cell *cells; /* sorted by (variant, context, metric) */
    size_t count, cap;
    int comparisons; /* over all cells */
    int alarms;
};

/* noise_find() needs sorted cells. */
void noise_sort(struct noise *n);
/* NULL if the cell was not measured. */
struct noise_cell *noise_find(const struct noise *n, const char *variant, int context, enum metric m);
/* NaN if the cell was not measured. n may be NULL. */
double noise_spread(const struct noise *n, const char *variant, int context, enum metric m);
void noise_release(struct noise *n);
