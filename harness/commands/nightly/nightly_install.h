/* nightly_install: turns a command line of `kernsweep nightly` into the command of a timer, with the same
 * options and absolute paths. Errors: ERR_INPUT, ERR_STORAGE.
 */
#pragma once

#include "harness/commands/base/cmd.h"

/* Words of the command line; NULL where absent. */
struct nightly_args {
    const char *node, *artifacts, *reports, *at;
    const char *tier, *budget;
    bool install_timer, remove_timer, changed;
};

/* file: the plan. Prints what was changed to stderr. */
int nightly_install(const struct cmd_env *env, const struct nightly_args *a, const char *file,
                    struct err *err);
/* word: a plan, or the name of a timer. If the plan no longer exists, its folder is resolved instead. */
int nightly_uninstall(const char *word, struct err *err);
