/* nightly_prune: removes at the end of a night what its plan does not keep: old bundles and samples here,
 * their runs and old caches on the node.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/session/session.h"

/* node: where runs count as the plan's; NULL: anywhere. s: of the night; without a connection, the node keeps
 * what it has. Says what failed, which changes nothing else. */
void nightly_prune(const struct cmd_env *env, const struct plan *p, const char *node, struct session *s);
