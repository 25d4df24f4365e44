/* causes_load: what the causes of a comparison are read from: the runs that stand for "before" with their
 * kernels and plans, and the clocks of the nights. Errors: ERR_STORAGE. */
#pragma once

#include "results/judge/compare.h"
#include "results/store/store.h"

/* What the comparison was made against. Borrowed. */
struct causes_source {
    struct store *store;
    const struct run_data *base; /* NULL: only the nights */
    const int64_t *base_runs;    /* kept whatever their age */
    size_t n_base_runs;
};

/* Fills in c->causes anew. */
int causes_load(const struct causes_source *from, const struct run_data *now, struct comparison *c,
                struct err *err);
