/* history: the measurements of earlier nights, as one median per run and cell.
 *
 * A series is the sequence of medians of one (node, ticket, mode, variant, context, metric), oldest first. As
 * it is loaded, a run that measured the cell on several GPUs has a point for each; cards_align() makes series
 * of one GPU of it. Plain data; the store's come from history_load.h. The owner calls history_release().
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_NIGHTS_HISTORY_H
#define KERNSWEEP_RESULTS_JUDGE_NIGHTS_HISTORY_H

#include "results/store/run_data.h"

struct history_point {
    int64_t run_key;
    double median;
    int n;               /* repetitions behind the median */
    int64_t measured_at; /* milliseconds since the epoch; nights are ordered by it, then by run_key */
    double within;       /* relative standard deviation of the night's repetitions; 0 or NaN when unknown */
    uint64_t code;       /* code identity of the cell, folded to 64 bits; 0 when unknown */
    uint64_t device;     /* identity of the GPUs it was measured on, folded; 0 when unknown */
    double card_log;     /* logarithm of what the median was multiplied by because it was measured on another
                            GPU; 0: it is as measured */
    double card_error;   /* standard error of card_log */
};

struct history_series {
    char variant[RUN_NAME_MAX];
    int context;
    enum metric metric;
    uint64_t device;              /* the GPU that it is seen from; 0: none in particular */
    struct history_point *points; /* oldest first */
    size_t count;
};

struct history {
    struct history_series *series; /* sorted by (variant, context, metric, device) */
    size_t count;
    size_t cap;
    size_t nights; /* runs that contributed to any series */
};

/* Moves the series of `from`, which is then empty; the result is not sorted. */
int history_append(struct history *h, struct history *from, struct err *err);
/* history_find() needs sorted series. */
void history_sort(struct history *h);
/* NULL if no night measured it; any one of several GPUs. */
const struct history_series *history_find(const struct history *h, const char *variant, int context,
                                          enum metric m);
/* The row of the run that was measured last; 0 if there is none. */
int64_t history_last(const struct history *h);
void history_release(struct history *h);

#endif
