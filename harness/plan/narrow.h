/* narrow: reduces a plan to the points that a command line asks for ("block=64,128,dtype=bf16"), or to cells
 * that are to be measured again. */
#pragma once

#include "harness/plan/matrix.h"
#include "harness/plan/variants.h"

/* Keeps the variants that have one of the listed values of each axis, or dimension of a shape; a variant
 * without the axis stays. file: the plan's, for messages. Values that no point has are ERR_INPUT. */
int narrow_to_values(struct plan_variants *v, const char *list, const char *file, struct err *err);

/* Keeps exactly these cells, except those that the plan's conditions leave out. Variants stay in the plan's
 * order and contexts in that of the cells; repetitions come from the plan (root), which need not list the
 * contexts. An unknown variant and a context without a time-out are ERR_INPUT. */
int narrow_to_cells(struct plan_variants *v, struct matrix *m, const struct json_at *root,
                    const struct plan_cell *cells, size_t n, struct err *err);
