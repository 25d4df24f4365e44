/* neighbours: which variants are measurably worse with all GPUs of the node at work, by `kernsweep noise
 * --gpus` (table `together`): they run alone. Errors: ERR_STORAGE. */
#ifndef KERNSWEEP_RESULTS_STORE_NEIGHBOURS_H
#define KERNSWEEP_RESULTS_STORE_NEIGHBOURS_H

#include "results/store/run_data.h"
#include "results/store/store.h"

enum { NEIGHBOURS_MAX = 256 };

struct suffering {
    char name[NEIGHBOURS_MAX][RUN_NAME_MAX];
    size_t count;
};

/* The variants of which any cell's interval lies beyond `practical` in what it is judged by. */
int suffering_load(struct store *s, const char *node, const char *ticket, const char *mode, double practical,
                   struct suffering *out, struct err *err);

#endif
