/* noise: how much runs of the same build differ, per cell, as an A/A sweep measured it (measure_noise.h).
 *
 * Plain data. A comparison that has too few repetitions to know its own noise takes these spreads instead.
 * The owner calls noise_release().
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_NOISE_H
#define KERNSWEEP_RESULTS_JUDGE_NOISE_H

#include "results/store/run_data.h"

struct noise_cell {
    char variant[RUN_NAME_MAX];
    int context;
    enum metric metric;
    double spread; /* relative standard deviation between the runs' medians */
    double within; /* the same within a run, pooled; NaN with single shots */
    int runs;
    int comparisons; /* ordered pairs of runs that were compared */
    int alarms;      /* of those, called regressed or improved */
};

struct noise {
    struct noise_cell *cells; /* sorted by (variant, context, metric) */
    size_t count;
    int comparisons; /* over all cells */
    int alarms;
};

/* Brings the cells into the order that noise_find() needs. */
void noise_sort(struct noise *n);
/* NULL when the cell was never measured. */
struct noise_cell *noise_find(const struct noise *n, const char *variant, int context, enum metric m);
/* NaN when it was never measured. n may be NULL. */
double noise_spread(const struct noise *n, const char *variant, int context, enum metric m);
void noise_release(struct noise *n);

#endif
