/* noise: what differs between runs although nothing changed, measured by an A/A sweep.
 *
 * From several runs of one plan on one node and the same sources: each cell's relative spread between runs,
 * and how often the given thresholds would have called a difference between two of them. The spreads are
 * stored per cell, and a comparison that has too few repetitions to know its noise takes them instead. The
 * owner calls noise_release().
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_NOISE_H
#define KERNSWEEP_RESULTS_JUDGE_NOISE_H

#include "results/store/run_data.h"

struct compare_options;

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

/* At least two runs; all of one node, ticket and mode, and of the same sources. */
int noise_measure(const struct run_data *const *runs, size_t n, const struct compare_options *options,
                  struct noise *out, struct err *err);
void noise_release(struct noise *n);

/* Of `run`'s node, ticket and mode. */
int noise_save(struct store *s, const struct run_info *run, const struct noise *n, struct err *err);
int noise_load(struct store *s, const struct run_info *run, struct noise *out, struct err *err);

/* NaN when it was never measured. n may be NULL. */
double noise_spread(const struct noise *n, const char *variant, int context, enum metric m);

#endif
