/* scratch_store: a store that exists for one command, for measurements that are shown but not kept. While it
 * is in use, env->db names it.
 */
#pragma once

#include "common/base/temporary.h"
#include "harness/commands/base/cmd.h"

struct scratch_store {
    struct cmd_env *env; /* NULL: not in use */
    struct temporary dir;
    char kept[FS_PATH_MAX]; /* the previous env->db */
};

/* Creates the store's folder below $TMPDIR; those of killed commands are removed. {0} is not in use. */
int scratch_store_begin(struct scratch_store *s, struct cmd_env *env, struct err *err);
/* Restores env->db and removes the folder. */
void scratch_store_end(struct scratch_store *s);
