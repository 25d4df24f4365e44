/* axis_text: the placeholders of axes in the commands of a variant. They are replaced when a plan is
 * expanded, so a job shows the exact commands of its tests, and an axis that changes the commands of a build
 * automatically makes it another build.
 *
 * {axis} stands for the value and {variant} for the plan's variant. Other placeholders
 * (common/contract/subst) stay. A name that resembles an axis is an error, as is ${axis}, which a shell would
 * take for one of its own variables.
 */
#pragma once

#include "common/contract/env.h"
#include "harness/plan/axes.h"

/* What to expand the placeholders to; all borrowed. */
struct axis_text {
    const struct axes *axes;
    const json_t *point; /* an element of axes->points */
    const char *variant; /* its name in the plan */
    const struct secret_names *secrets;
};

/* at: a variant of the plan. *out: a copy in which the commands, the environment (including that of the axes'
 * values), the gates and the patches are expanded at this point. */
int axis_text_variant(const struct axis_text *t, const struct json_at *at, json_t **out, struct err *err);
/* at: "env" of the plan, which may be absent. Adds those of its entries that mention an axis to out, expanded
 * at this point; the others are the same for all variants. */
int axis_text_env(const struct axis_text *t, const struct json_at *at, json_t *out, struct err *err);
/* A copy of the patches in which axes are expanded in the replacements, and nothing else. */
json_t *axis_text_patches(const struct axis_text *t, const json_t *patches);
/* Whether an entry of the plan's "env" mentions an axis. */
bool axis_text_mentions(const struct axes *a, const char *text);
/* Moves the entries that builds must not see from env into a new object: those that mention, or come from, an
 * axis with "build": false. written: the variant as in the plan; of_plan: the plan's "env". */
json_t *axis_text_take_late(const struct axis_text *t, json_t *env, const json_t *written,
                            const json_t *of_plan);
