/* fs_write: fs_write_file() of fs.h. */
#include "common/base/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int fs_write_file(const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
    char dir[FS_PATH_MAX];
    struct temporary tmp;
    if (temporary_file(&tmp, path, mode, err) != 0)
        return -1;
    int failed = fs_write_all(tmp.fd, data, len) != 0 || fsync(tmp.fd) != 0 ? errno : 0;
    if (close(tmp.fd) != 0 && !failed)
        failed = errno;
    if (!failed && rename(tmp.path, path) != 0)
        failed = errno;
    if (failed) {
        unlink(tmp.path);
        return err_set_errno(err, ERR_STORAGE, failed, "%s: cannot write", path);
    }
    fs_parent(path, dir);
    return fs_sync_dir(dir, err);
}
