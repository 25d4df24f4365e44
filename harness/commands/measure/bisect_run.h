/* bisect_run: runs searches for `bisect` and `nightly`. One process at a time, possibly a detached one, works
 * on a search, and writes the report when it has an answer.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/session/bisect_steps.h"

/* Calls bisect_run() under a lock, and writes the report. Waits while another process works on the search and
 * then continues from its result. ERR_INTERRUPTED while waiting. */
int bisect_run_locked(struct bisect_state *b, struct store *s, const struct bisect_settings *o,
                      struct err *err);

/* Continues a stored search in a new process that outlives this command and the terminal. log:
 * char[FS_PATH_MAX], receives the path of its output, next to the store. */
int bisect_detach(const struct cmd_env *env, const char *name, char *log, struct err *err);
