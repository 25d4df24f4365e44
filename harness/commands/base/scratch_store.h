/* scratch_store: a store that lives for one command, for what is measured and shown but not kept. While it is
 * in use, env->db names it.
 */
#pragma once

#include "harness/commands/base/cmd.h"

struct scratch_store {
    struct cmd_env *env; /* NULL: not in use */
    char dir[FS_PATH_MAX];
    char kept[FS_PATH_MAX]; /* env->db before */
};

/* Makes the folder below $TMPDIR. {0} is not in use. */
int scratch_store_begin(struct scratch_store *s, struct cmd_env *env, struct err *err);
/* Gives env->db back and removes the folder with all that is in it. */
void scratch_store_end(struct scratch_store *s);
