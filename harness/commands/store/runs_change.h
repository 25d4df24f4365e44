/* runs_change: `kernsweep runs remove|reject|unreject`: removes runs from the store, or excludes them from
 * all comparisons.
 *
 * Changes only the store; bundles stay where they are. Prints one line per run on stderr.
 */
#pragma once

#include "harness/commands/base/cmd.h"

enum { RUNS_CHANGE_WORDS = 257 }; /* the verb and its runs */

/* words: the verb, then runs. why: the value of --why, or NULL. Returns an exit code, or -1 with err. */
int runs_change(const struct cmd_env *env, struct store *s, const char **words, size_t n, const char *why,
                struct err *err);
