/* nightly_prune: removes what the plan does not keep at the end of a night: old bundles and samples here,
 * their runs and old caches on the node.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/session/session.h"

/* node: where runs count as the plan's; NULL: anywhere. s: the night's session; if it is not connected,
 * nothing is removed on the node. Failures are printed and change nothing else. */
void nightly_prune(const struct cmd_env *env, const struct plan *p, const char *node, struct session *s);
