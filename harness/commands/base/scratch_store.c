#include "harness/commands/base/scratch_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int scratch_store_begin(struct scratch_store *s, struct cmd_env *env, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char db[FS_PATH_MAX], path[FS_PATH_MAX];
    if (fs_join(path, err, tmp && *tmp == '/' ? tmp : "/tmp", "kernsweep") != 0 ||
        temporary_folder(&s->dir, path, err) != 0)
        return -1;
    s->env = env;
    memcpy(s->kept, env->db, sizeof s->kept);
    if (fs_join(db, err, s->dir.path, "results.db") != 0)
        return -1;
    memcpy(env->db, db, sizeof env->db);
    return 0;
}

void scratch_store_end(struct scratch_store *s)
{
    if (!s->env)
        return;
    memcpy(s->env->db, s->kept, sizeof s->kept);
    temporary_release(&s->dir);
    s->env = NULL;
}
