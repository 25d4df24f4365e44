/* compare_values: the evidence of one metric of one cell that both sides measured, GPU by GPU. Pure. */
#pragma once

#include "results/judge/tonight.h"

struct comparing_cell {
    const struct tonight *tonight;
    const struct cell *base; /* may be NULL */
    const struct cell *now;
    struct t_limit *limit; /* of the intervals, shared by the cells */
};

/* d->metric, variant and context are set; judge_decide() follows once all cells are measured. */
void compare_cell_values(const struct comparing_cell *c, const struct compare_options *o, struct delta *d);

/* On which GPUs the sides were measured, and beside how many tests. */
void set_places(const struct run_data *base, const struct cell *of_base, const struct run_data *now,
                const struct cell *of_now, struct delta *d);
