/* runs_change: `kernsweep runs remove|reject|unreject`: takes runs out of the store, or out of every
 * comparison.
 *
 * Changes only the store; bundles stay where they are. Prints one line on stderr per run.
 */
#pragma once

#include "harness/commands/base/cmd.h"

enum { RUNS_CHANGE_WORDS = 257 }; /* the verb and its runs */

/* words: the verb, then runs. why: the value of --why, or NULL. Returns an exit code, or -1 with err. */
int runs_change(const struct cmd_env *env, struct store *s, const char **words, size_t n, const char *why,
                struct err *err);
