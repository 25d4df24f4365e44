#include "executor/workdir/entries.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static bool is_numbered(const char *name, const char *prefix)
{
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0 || !name[len])
        return false;
    for (name += len; *name; name++) {
        if (!isdigit((unsigned char)*name))
            return false;
    }
    return true;
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

void entries_each(const char *root, const char *prefix, entries_fn *fn, void *arg)
{
    AUTO_FREE struct dirent **list = NULL;
    char path[FS_PATH_MAX];
    int n = scandir(root, &list, NULL, by_number);
    for (int i = 0; i < n; i++) {
        if ((!prefix || is_numbered(list[i]->d_name, prefix)) && list[i]->d_name[0] != '.' &&
            fs_join(path, NULL, root, list[i]->d_name) == 0)
            fn(path, list[i]->d_name, arg);
        free(list[i]);
    }
}
