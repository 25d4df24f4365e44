/* cause_plans: what differs between the plans of two runs in how tests are built and run. What only the text
 * of a plan has (a comment, a default that is spelled out) does not differ. Pure.
 */
#pragma once

#include "results/judge/causes/cause_run.h"

/* The plan's entry of a variant; NULL if the plan is unknown or has none of that name. */
const json_t *cause_plan_variant(const struct cause_run *r, const char *variant);
/* Adds to the methods, and what builds are made with to the toolchain. variant: "" for what concerns all. */
void cause_compare_plans(const struct cause_run *before, const struct cause_run *now, const char *variant,
                         struct cause_differences *out);
