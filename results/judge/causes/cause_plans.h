/* cause_plans: how the plans of two runs differ in building and running tests. Differences in the text alone
 * (a comment, a default that is spelled out) do not count. Pure.
 */
#pragma once

#include "results/judge/causes/cause_run.h"

/* The plan's entry of a variant; NULL if the plan is unknown or has none of that name. */
const json_t *cause_plan_variant(const struct cause_run *r, const char *variant);
/* Adds to the methods, and to the toolchain what builds are made with. variant: "" for what concerns all. */
void cause_compare_plans(const struct cause_run *before, const struct cause_run *now, const char *variant,
                         struct cause_differences *out);
