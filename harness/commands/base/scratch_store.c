#include "harness/commands/base/scratch_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int scratch_store_begin(struct scratch_store *s, struct cmd_env *env, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char db[FS_PATH_MAX];
    if (fs_join(s->dir, err, tmp && *tmp == '/' ? tmp : "/tmp", "kernsweep.XXXXXX") != 0)
        return -1;
    if (!mkdtemp(s->dir))
        return err_set(err, ERR_STORAGE, "%.200s: cannot make a folder", s->dir);
    s->env = env;
    memcpy(s->kept, env->db, sizeof s->kept);
    if (fs_join(db, err, s->dir, "results.db") != 0)
        return -1;
    memcpy(env->db, db, sizeof env->db);
    return 0;
}

void scratch_store_end(struct scratch_store *s)
{
    struct err ignored = {0};
    if (!s->env)
        return;
    memcpy(s->env->db, s->kept, sizeof s->kept);
    fs_remove_tree(s->dir, &ignored);
    s->env = NULL;
}
