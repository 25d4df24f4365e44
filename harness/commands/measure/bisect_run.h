/* bisect_run: the processes that work on a search: one at a time, which writes the report when it has an
 * answer; it may be one of its own. For `bisect` and `nightly`.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/session/bisect_steps.h"

/* bisect_run() under a lock, and the report. Waits for another process that works on the search, and then
 * takes over what it left. ERR_INTERRUPTED while waiting. */
int bisect_run_locked(struct bisect_state *b, struct store *s, const struct bisect_settings *o,
                      struct err *err);

/* Goes on with a stored search in a process of its own, which outlives this command and the terminal. log:
 * char[FS_PATH_MAX], the file with what it prints, beside the store. */
int bisect_detach(const struct cmd_env *env, const char *name, char *log, struct err *err);
