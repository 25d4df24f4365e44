/* history: the measurements of earlier nights, as one median per run and cell.
 *
 * A series is the sequence of medians of one (node, ticket, mode, variant, context, metric), oldest first.
 * Plain data; the store's come from history_load.h. The owner calls history_release().
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_HISTORY_H
#define KERNSWEEP_RESULTS_JUDGE_HISTORY_H

#include "results/store/run_data.h"

struct history_point {
    int64_t run_key;
    double median;
    int n;               /* repetitions behind the median */
    int64_t measured_at; /* milliseconds since the epoch; nights are ordered by it, then by run_key */
    double within;       /* relative standard deviation of the night's repetitions; 0 or NaN when unknown */
    uint64_t code;       /* code identity of the cell, folded to 64 bits; 0 when unknown */
    uint64_t device;     /* identity of the run's GPUs, folded; 0 when unknown */
};

struct history_series {
    char variant[RUN_NAME_MAX];
    int context;
    enum metric metric;
    struct history_point *points; /* oldest first */
    size_t count;
};

struct history {
    struct history_series *series; /* sorted by (variant, context, metric) */
    size_t count;
    size_t cap;
    size_t nights; /* runs that contributed to any series */
};

/* history_find() needs sorted series. */
void history_sort(struct history *h);
/* NULL if no night measured it. */
const struct history_series *history_find(const struct history *h, const char *variant, int context,
                                          enum metric m);
/* The row of the run that was measured last; 0 if there is none. */
int64_t history_last(const struct history *h);
void history_release(struct history *h);

#endif
