/* base_plan: cells whose variant the plan builds or runs otherwise than the base's plan did, and the base's
 * code.
 *
 * Suspects are measured alternating with the base's sources, built with the plan of now. That says nothing
 * about what the plan itself changed (a flag, a variable, a command), since both sides have it, nor about a
 * base that now builds to other code than its own build recorded.
 */
#pragma once

#include "results/judge/compare.h"
#include "results/store/store.h"

/* Sets delta.other_plan and delta.base_code. Where a plan is not known, nothing is marked. */
int base_plan_mark(struct store *s, const struct run_data *base, const struct run_data *now,
                   struct comparison *c, struct err *err);
/* Sets otherwise[i] where now's plan builds or runs its variant i otherwise than that of one of the base's
 * runs, or of one of the last `nights` nights: what its cells did then tells nothing about the node. */
int base_plan_otherwise(struct store *s, const struct run_data *now, const int64_t *base_runs, size_t n,
                        size_t nights, bool *otherwise, struct err *err);
