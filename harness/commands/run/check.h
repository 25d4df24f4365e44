/* check: the part of `kernsweep check` that other commands use. */
#pragma once

#include "harness/commands/base/on_node.h"
#include "harness/plan/plan.h"

/* Connects to a->node and judges it for the plan, which may be empty; *out: the findings. Returns the
 * node's facts, or NULL with err. Call session_close() if s->opt.progress is set. */
json_t *check_node(struct cmd_env *env, const struct attach_args *a, const struct plan *p, struct session *s,
                   struct preflight *out, struct err *err);
void check_print(const struct session *s, const struct preflight *p);
