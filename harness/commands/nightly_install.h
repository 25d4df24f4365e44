/* nightly_install: what `kernsweep nightly` was told, as the command of a timer: the same options, from any
 * folder. Errors: ERR_INPUT, ERR_STORAGE.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_NIGHTLY_INSTALL_H
#define KERNSWEEP_HARNESS_COMMANDS_NIGHTLY_INSTALL_H

#include "harness/commands/cmd.h"

/* Words of the command line; NULL where absent. */
struct nightly_args {
    const char *node, *artifacts, *reports, *at;
    bool install_timer, remove_timer;
};

/* file: the plan's. Says on stderr what was done. */
int nightly_install(const struct cmd_env *env, const struct nightly_args *a, const char *file,
                    struct err *err);
/* word: a plan's file, or a timer's name. The file may be gone; then its folder, or what was typed, must do.
 */
int nightly_uninstall(const char *word, struct err *err);

#endif
