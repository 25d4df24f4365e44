/* nightly_nodes: nights of a plan with several nodes: one command runs them at once, each with its own lock,
 * state, news and history, and reports them side by side.
 */
#pragma once

#include "harness/commands/run/several_nodes.h"

/* Loads the plan by its resolved path, as records use it. */
int nightly_load_plan(struct plan *p, const char *file, struct err *err);
/* Whether the plan names several nodes. */
int nightly_nodes_named(const char *file, bool *several, struct err *err);
/* fn runs the night of one node. Returns the exit code, or -1 with err. */
int nightly_nodes(struct cmd_env *env, const char *file, node_part_fn *fn, void *arg, struct err *err);
