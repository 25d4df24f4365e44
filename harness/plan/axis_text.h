/* axis_text: the placeholders of axes in the commands of a variant. They are replaced when a plan is
 * expanded, so that a job shows the commands that its tests run, and a build whose commands an axis changes
 * is another build without anybody having to say so.
 *
 * {axis} stands for the value and {variant} for the plan's variant. What stands for other placeholders
 * (common/contract/subst) stays. A name that resembles an axis is an error, as is ${axis}, which a shell
 * would take for a variable of its own.
 */
#pragma once

#include "common/contract/env.h"
#include "harness/plan/axes.h"

/* What the placeholders stand for; all borrowed. */
struct axis_text {
    const struct axes *axes;
    const json_t *point; /* an element of axes->points */
    const char *variant; /* its name in the plan */
    const struct secret_names *secrets;
};

/* at: a variant of the plan. *out: a copy with the commands, the environment (that of the axes' values
 * included), the gates and the patches at this point. */
int axis_text_variant(const struct axis_text *t, const struct json_at *at, json_t **out, struct err *err);
/* at: "env" of the plan, which may be absent. Adds to out those of its entries that mention an axis, at this
 * point; the others are the same for all variants. */
int axis_text_env(const struct axis_text *t, const struct json_at *at, json_t *out, struct err *err);
/* A copy of patches with the axes in their replacements, which are otherwise text of the sources. */
json_t *axis_text_patches(const struct axis_text *t, const json_t *patches);
/* Whether an entry of the plan's "env" mentions an axis. */
bool axis_text_mentions(const struct axes *a, const char *text);
/* Takes from env, into a new object, what builds must not see: what mentions, or comes from, an axis of which
 * the plan says that no build depends on it. written: the variant as in the plan; of_plan: the plan's "env".
 */
json_t *axis_text_take_late(const struct axis_text *t, json_t *env, const json_t *written,
                            const json_t *of_plan);
