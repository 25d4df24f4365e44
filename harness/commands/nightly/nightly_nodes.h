/* nightly_nodes: the nights of a plan that names several nodes: one command runs them at once, a night per
 * node with its own lock, state, news and history, and puts them side by side.
 */
#pragma once

#include "harness/commands/run/several_nodes.h"

/* Loads the plan by its resolved path, which is the one that records have. */
int nightly_load_plan(struct plan *p, const char *file, struct err *err);
/* Whether the plan names several nodes. */
int nightly_nodes_named(const char *file, bool *several, struct err *err);
/* fn runs the night of one node. Returns the exit code, or -1 with err. */
int nightly_nodes(struct cmd_env *env, const char *file, node_part_fn *fn, void *arg, struct err *err);
