/* noise_stored: `kernsweep noise list|remove`: the noise floors that earlier A/A sessions left in the store.
 * A session is named by the time at which it was stored, as `noise list` prints it. */
#pragma once

#include "harness/commands/base/cmd.h"

/* Values of options; NULL where absent. */
struct noise_choice {
    const char *node, *ticket, *variant, *session;
};

/* Both return an exit code, or -1 with err. */
int noise_stored_list(const struct cmd_env *env, struct store *s, const struct noise_choice *c,
                      struct err *err);
/* ERR_INPUT without any choice, and if nothing matches. */
int noise_stored_remove(const struct cmd_env *env, struct store *s, const struct noise_choice *c,
                        struct err *err);
