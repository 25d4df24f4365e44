/* history: the measurements of earlier nights, as one median per night and cell.
 *
 * A series is the sequence of medians of one (node, ticket, mode, variant, context, metric), oldest first. As
 * it is loaded, a run that measured the cell on several GPUs has a point for each; history_of_places() makes
 * series of one GPU of it. Plain data; the store's come from history_load.h. The owner calls
 * history_release().
 */
#pragma once

#include "results/store/run_data.h"

struct history_point {
    int64_t run_key; /* of the night; of several runs, one stands for all */
    double median;
    int n;               /* repetitions behind the median */
    int64_t measured_at; /* milliseconds since the epoch; nights are ordered by it, then by run_key */
    double within;       /* relative standard deviation of the night's repetitions; 0 or NaN when unknown */
    uint64_t code;       /* code identity of the cell, folded to 64 bits; 0 when unknown */
    uint64_t device;     /* identity of the GPUs it was measured on, folded; 0 when unknown */
};

struct history_series {
    char variant[RUN_NAME_MAX];
    int context;
    enum metric metric;
    uint64_t device;              /* the GPU that it is seen from; 0: none in particular */
    struct history_point *points; /* oldest first */
    size_t count;
    char part[8]; /* of the tests that was sampled, if it was: run_activity's window */
};

struct history {
    struct history_series *series; /* sorted by (variant, context, metric, device) */
    size_t count;
    size_t cap;
    size_t nights;  /* that contributed to any series */
    size_t changed; /* runs that are none, for their local changes */
};

/* The history as it is seen from the GPUs that `now` ran on: a series of its own for each GPU of a cell.
 *
 * Nights on another GPU come before all others. A run that measured the cell on this GPU has no other point.
 * Only of `m`; with `whole`, each cell has one series, of its first GPU, for those who draw it. *out borrows
 * nothing. */
void history_of_places(const struct history *h, const struct run_data *now, enum metric m, bool whole,
                       struct history *out);
/* Moves the series of `from`, which is then empty; the result is not sorted. */
void history_append(struct history *h, struct history *from);
/* history_find() needs sorted series. */
void history_sort(struct history *h);
/* NULL if no night measured it; any one of several GPUs. */
const struct history_series *history_find(const struct history *h, const char *variant, int context,
                                          enum metric m);
/* The row of the run that was measured last; 0 if there is none. */
int64_t history_last(const struct history *h);
void history_release(struct history *h);
