/* base_plan: cells whose variant the plan runs otherwise than the base's plan did.
 *
 * Measuring suspects in turns builds the base's sources with the plan of now: of what the plan itself changed
 * (a flag, a variable, a command) that says nothing, since both sides have it.
 */
#ifndef KERNSWEEP_RESULTS_QUERY_BASE_PLAN_H
#define KERNSWEEP_RESULTS_QUERY_BASE_PLAN_H

#include "results/judge/compare.h"
#include "results/store/store.h"

/* Sets delta.other_plan. Where a plan is not known, nothing is marked. */
int base_plan_mark(struct store *s, const struct run_data *base, const struct run_data *now,
                   struct comparison *c, struct err *err);

#endif
