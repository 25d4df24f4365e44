/* narrow: a part of a plan: the points that a command line asks for ("block=64,128,dtype=bf16"), or the cells
 * that somebody wants measured again. */
#pragma once

#include "harness/plan/matrix.h"
#include "harness/plan/variants.h"

/* Keeps the variants whose axes, or dimensions of a shape, have one of the listed values; a variant without
 * the axis stays. file: the plan's, for messages. Values that no point has are ERR_INPUT. */
int narrow_to_values(struct plan_variants *v, const char *list, const char *file, struct err *err);

/* Keeps exactly these cells, except what the plan's conditions leave out: the variants in the plan's order,
 * the contexts in that of the cells and with the repetitions of the plan, root, also where its "contexts" do
 * not list them. A variant that the plan does not have and a context without a time-out are ERR_INPUT. */
int narrow_to_cells(struct plan_variants *v, struct matrix *m, const struct json_at *root,
                    const struct plan_cell *cells, size_t n, struct err *err);
