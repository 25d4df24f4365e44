/* base_plan: cells whose variant the plan runs otherwise than the base's plan did, and the base's code.
 *
 * Measuring suspects in turns builds the base's sources with the plan of now: of what the plan itself changed
 * (a flag, a variable, a command) that says nothing, since both sides have it. Nor does a build of the base's
 * sources that has become another one, which the code of the base's own build tells.
 */
#pragma once

#include "results/judge/compare.h"
#include "results/store/store.h"

/* Sets delta.other_plan and delta.base_code. Where a plan is not known, nothing is marked. */
int base_plan_mark(struct store *s, const struct run_data *base, const struct run_data *now,
                   struct comparison *c, struct err *err);
/* Sets otherwise[i] where now's plan builds or runs its variant i otherwise than that of one of the base's
 * runs, or of one of so many nights before: what its cells did tells nothing of the node. */
int base_plan_otherwise(struct store *s, const struct run_data *now, const int64_t *base_runs, size_t n,
                        size_t nights, bool *otherwise, struct err *err);
