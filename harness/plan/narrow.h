/* narrow: the points of a plan that a command line asks for ("block=64,128,dtype=bf16"). */
#ifndef KERNSWEEP_HARNESS_PLAN_NARROW_H
#define KERNSWEEP_HARNESS_PLAN_NARROW_H

#include "harness/plan/matrix.h"
#include "harness/plan/variants.h"

/* Keeps the variants whose axes, or dimensions of a shape, have one of the listed values; a variant without
 * the axis stays. file: the plan's, for messages. Values that no point has are ERR_INPUT. */
int narrow_to_values(struct plan_variants *v, const char *list, const char *file, struct err *err);

/* Leaves out further cells: an array of {"variant": NAME, "context": N}, of which v keeps a reference.
 * Variants without any context left are not part of the plan any more. contexts: those of the plan. */
void narrow_without(struct plan_variants *v, json_t *cells, const struct matrix *contexts);

#endif
