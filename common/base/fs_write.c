/* fs_write: fs_write_file() of fs.h. */
#include "common/base/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe or a device would be replaced for everybody, and so would /dev/stdout, which leads to whatever this
 * process has open. */
static bool is_special(const char *path)
{
    static const char open_files[] = "/proc/";
    struct stat st;
    char to[sizeof open_files - 1];
    return (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) ||
           (readlink(path, to, sizeof to) == (ssize_t)sizeof to && memcmp(to, open_files, sizeof to) == 0);
}

int fs_check_output(const char *path, struct err *err)
{
    return path && is_special(path)
               ? err_set(err, ERR_INPUT, "%s: not a regular file, so it is not replaced: name another", path)
               : 0;
}

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

int fs_write_output(const char *path, const char *text, struct err *err)
{
    return fs_check_output(path, err) != 0 ? -1 : fs_write_file(path, text, strlen(text), 0644, err);
}
