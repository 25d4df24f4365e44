/* cause_differences: what differs between two runs apart from times: recorded facts and keys of their plans,
 * sorted by what they could explain. Pure.
 *
 * A fact that only one of the runs recorded says nothing, except for variables of the tests: a newer executor
 * records more. A key of the plan that only its text distinguishes (a default that is spelled out) does not
 * differ.
 */
#pragma once

#include "results/judge/causes/cause_run.h"

/* The differences that concern one cell; variant: "" for what concerns all cells. */
void cause_differences(const struct cause_run *before, const struct cause_run *now, const char *variant,
                       int context, struct cause_differences *out);

/* Drops what is not among the differences of an earlier run. A list that overflowed may have contained
 * anything, so nothing is dropped for lacking in it. */
void cause_differences_keep(struct cause_differences *d, const struct cause_differences *earlier);
