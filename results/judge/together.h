/* together: how much slower a cell is with all GPUs of its node at work than alone (`kernsweep noise
 * --gpus`).
 *
 * In each round a run measures the cells alone and another one with tests on all GPUs; the two are compared
 * on equal GPUs. Pure. The owner calls together_release().
 */
#pragma once

#include "results/store/run_data.h"

enum { TOGETHER_ROUNDS_MAX = 32 };

struct together_cell {
    char variant[RUN_NAME_MAX];
    int context;
    enum metric metric;
    double ratio;     /* together / alone */
    double low, high; /* 95 % interval; NaN with one test of each */
    int gpus;         /* at work at once; at least 2 */
    int rounds;
};

struct together {
    struct together_cell *cells; /* sorted by (variant, context, metric) */
    size_t count, cap;
};

/* alone[i] and all[i] are of one round. ERR_INPUT if no test of a run of `all` ran beside another one, or no
 * GPU was used by both. */
int together_measure(const struct run_data *const *alone, const struct run_data *const *all, size_t rounds,
                     struct together *out, struct err *err);
void together_sort(struct together *t);
void together_release(struct together *t);
/* NULL if it was not measured. t may be NULL. */
const struct together_cell *together_find(const struct together *t, const char *variant, int context,
                                          enum metric m);
/* Whether the cell is worse by more than this with neighbours, as far as its interval tells. c may be NULL.
 */
bool together_suffers(const struct together_cell *c, double practical);
