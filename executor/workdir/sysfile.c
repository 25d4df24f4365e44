#include "executor/workdir/sysfile.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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
    out[strcspn(out, "\n")] = '\0';
    return found;
}
