/* keep_blocked: a sweep that its node could not take is kept as a BLOCKED run, with the reason and the
 * pending command, so that reports of its ticket can tell of it.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/plan/plan.h"

/* Appends the command line, to be run again once the node is there. */
void pending_command(const struct cmd_env *env, struct buf *out);

/* After session_start() failed with `why`. Does nothing for other errors than ERR_NODE, for runs that are no
 * sweeps, and for those that the node may have. What goes wrong is printed, and changes nothing else. */
void keep_blocked(const struct cmd_env *env, const struct session *s, const struct plan *p,
                  const struct err *why);
