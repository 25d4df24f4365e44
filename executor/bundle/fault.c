#include "executor/bundle/fault.h"

#include "common/base/fs.h"
#include "executor/workdir/layout.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { RESERVE_BYTES = 16 << 10 };

int fault_reserve(const char *run_dir, struct err *err)
{
    static const char zeroes[RESERVE_BYTES];
    char path[FS_PATH_MAX];
    if (fs_join(path, err, run_dir, RUN_RESERVE) != 0)
        return -1;
    return fs_write_file(path, zeroes, sizeof zeroes, 0600, err);
}

static void remove_file(const char *run_dir, const char *name)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, NULL, run_dir, name) == 0)
        unlink(path);
}

void fault_clear(const char *run_dir)
{
    remove_file(run_dir, RUN_ERROR);
}

void fault_write(const char *run_dir, const char *message)
{
    char path[FS_PATH_MAX];
    remove_file(run_dir, RUN_RESERVE);
    if (fs_join(path, NULL, run_dir, RUN_ERROR) != 0)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    (void)!write(fd, message, strlen(message));
    close(fd);
}

void fault_read(const char *run_dir, char *out)
{
    char path[FS_PATH_MAX];
    out[0] = '\0';
    int fd =
        fs_join(path, NULL, run_dir, RUN_ERROR) == 0 ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0)
        return;
    ssize_t n = read(fd, out, FAULT_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    close(fd);
}
