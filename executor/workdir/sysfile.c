#include "executor/workdir/sysfile.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

FILE *sysfile_open(const char *folder, const char *name)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, folder, name) == 0 ? fopen(path, "re") : NULL;
}

bool sysfile_read(const char *folder, const char *name, char *out, size_t size)
{
    char path[FS_PATH_MAX];
    AUTO_CLOSE int fd = fs_join(path, NULL, folder, name) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd >= 0 ? read(fd, out, size - 1) : -1;
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

bool sysfile_line(const char *folder, const char *name, char *out, size_t size)
{
    bool found = sysfile_read(folder, name, out, size);
    size_t len = strcspn(out, "\n");
    while (len > 0 && strchr(" \t\r", out[len - 1]))
        len--;
    out[len] = '\0';
    return found;
}
