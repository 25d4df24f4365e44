/* narrow: a part of a plan: the points that a command line asks for ("block=64,128,dtype=bf16"), or the cells
 * that somebody wants measured again. */
#ifndef KERNSWEEP_HARNESS_PLAN_NARROW_H
#define KERNSWEEP_HARNESS_PLAN_NARROW_H

#include "harness/plan/plan.h"

/* Keeps the variants whose axes, or dimensions of a shape, have one of the listed values; a variant without
 * the axis stays. file: the plan's, for messages. Values that no point has are ERR_INPUT. */
int narrow_to_values(struct plan_variants *v, const char *list, const char *file, struct err *err);

/* A variant, by its name with its point, at a context. */
struct plan_cell {
    const char *variant;
    int64_t context;
};

/* Keeps exactly these cells, except what the plan's conditions leave out: the variants in the plan's order,
 * the contexts in that of the cells and with the plan's repetitions, also where its "contexts" do not list
 * them. A variant that the plan does not have, a context without a time-out, and nothing left are ERR_INPUT.
 */
int plan_keep_cells(struct plan *p, const struct plan_cell *cells, size_t n, struct err *err);

#endif
