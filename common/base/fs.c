#include "common/base/fs.h"

#include "common/base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fs_join(char *out, struct err *err, const char *dir, const char *name)
{
    size_t len = strlen(dir), rest = strlen(name), slash = len > 0 && dir[len - 1] != '/';
    if (len + slash + rest >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "path too long: %.200s/%.200s", dir, name);
    memmove(out, dir, len + 1);
    if (slash)
        out[len] = '/';
    memcpy(out + len + slash, name, rest + 1);
    return 0;
}

/* size: the file's size when it was opened; a short read that reaches it needs no second read to see the end.
 */
static int read_all_pieces(int fd, const char *path, off_t size, size_t max, fs_piece_fn *fn, void *arg,
                           struct err *err)
{
    char data[1 << 16];
    size_t total = 0;
    for (;;) {
        ssize_t n = read(fd, data, sizeof data);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot read", path);
        total += (size_t)n;
        if (total > max)
            return err_set(err, ERR_INPUT, "%s: larger than the limit of %zu bytes", path, max);
        if (fn(arg, data, (size_t)n, err) != 0)
            return -1;
        if (n == 0 || ((size_t)n < sizeof data && (off_t)total == size))
            return 0;
    }
}

int fs_read_pieces(int fd, const char *path, size_t max, fs_piece_fn *fn, void *arg, struct err *err)
{
    struct stat st;
    int rc = fstat(fd, &st) == 0 && S_ISREG(st.st_mode)
                 ? read_all_pieces(fd, path, st.st_size, max, fn, arg, err)
                 : err_set(err, ERR_INPUT, "%s: not a regular file", path);
    close(fd);
    return rc;
}

static int append_piece(void *arg, const void *data, size_t len, struct err *err)
{
    struct buf *out = arg;
    buf_add(out, data, len);
    (void)err;
    return buf_ok(out) ? 0 : -1;
}

static int read_into(int fd, const char *path, size_t max, struct buf *out, struct err *err)
{
    int rc = fs_read_pieces(fd, path, max, append_piece, out, err);
    return buf_ok(out) ? rc
                       : err_set(err, ERR_INPUT, "%s: larger than the limit of %zu bytes", path, out->max);
}

/* A socket cannot be opened at all. */
static int fail_open(const char *path, int failed, struct err *err)
{
    if (failed == ENXIO || failed == ENODEV)
        return err_set(err, ERR_INPUT, "%s: not a regular file", path);
    return err_set_errno(err, failed == ENOENT || failed == ELOOP ? ERR_INPUT : ERR_STORAGE, failed,
                         "%s: cannot open", path);
}

int fs_read_at(int dirfd, const char *rel, const char *path, size_t max, struct buf *out, struct err *err)
{
    int fd = openat(dirfd, rel, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? fail_open(path, errno, err) : read_into(fd, path, max, out, err);
}

int fs_read_file(const char *path, size_t max, struct buf *out, struct err *err)
{
    return fs_read_at(AT_FDCWD, path, path, max, out, err);
}

/* Returns the descriptor, or -1 with errno: ELOOP or ENOTDIR when a component is a link. */
static int open_below(const char *dir, const char *rel)
{
    int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0) {
        char name[FS_PATH_MAX];
        size_t len = strcspn(rel, "/");
        snprintf(name, sizeof name, "%.*s", (int)len, rel);
        bool last = !rel[len];
        int next =
            openat(at, name, O_NOFOLLOW | O_CLOEXEC | (last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY));
        int failed = errno;
        close(at);
        errno = failed;
        if (last || next < 0)
            return next;
        at = next;
        rel += len + 1;
    }
    return -1;
}

int fs_read_below(const char *dir, const char *rel, size_t max, struct buf *out, mode_t *mode,
                  struct err *err)
{
    if (!fs_safe_relpath(rel))
        return err_set(err, ERR_INPUT, "%.200s: not a plain path below a folder", rel);
    int fd = open_below(dir, rel);
    if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
        return err_set(err, ERR_INPUT, "%s: a symbolic link, or not a file", rel);
    if (fd < 0)
        return fail_open(rel, errno, err);
    struct stat st;
    if (mode && fstat(fd, &st) == 0)
        *mode = st.st_mode & 07777;
    return read_into(fd, rel, max, out, err);
}

int fs_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

void fs_parent(const char *path, char *out)
{
    snprintf(out, FS_PATH_MAX, "%s", path);
    char *slash = strrchr(out, '/');
    if (!slash)
        snprintf(out, FS_PATH_MAX, ".");
    else if (slash == out)
        out[1] = '\0';
    else
        *slash = '\0';
}

int fs_beside(const char *path, const char *name, char *out, struct err *err)
{
    char dir[FS_PATH_MAX];
    fs_parent(path, dir);
    return fs_join(out, err, dir, name);
}

int fs_cache_folder(const char *name, char *out, struct err *err)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool set = cache && *cache == '/';
    if (!set && (!home || !*home))
        return err_set(err, ERR_INPUT, "HOME is not set");
    int n = snprintf(out, FS_PATH_MAX, "%s%s/kernsweep/%s", set ? cache : home, set ? "" : "/.cache", name);
    return n < 0 || n >= FS_PATH_MAX ? err_set(err, ERR_INPUT, "XDG_CACHE_HOME: path too long")
                                     : fs_mkdir_p(out, 0700, err);
}

int fs_sync_dir(const char *path, struct err *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open the folder", path);
    return fsync(fd) != 0 && errno != EINVAL ? err_set_errno(err, ERR_STORAGE, errno, "%s: cannot sync", path)
                                             : 0;
}

int fs_sync_filesystem(const char *dir, struct err *err)
{
    AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || syncfs(fd) != 0 ? err_set_errno(err, ERR_STORAGE, errno, "%s: cannot sync", dir) : 0;
}

int fs_mkdir_p(const char *path, mode_t mode, struct err *err)
{
    char part[FS_PATH_MAX];
    if (strlen(path) >= sizeof part || !*path)
        return err_set(err, ERR_INPUT, "path empty or too long: %.200s", path);
    for (size_t i = 1;; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, mode) != 0 && errno != EEXIST)
            return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot create the folder", part);
        if (path[i] == '\0')
            break;
    }
    if (!fs_is_dir(path))
        return err_set(err, ERR_STORAGE, "%s: exists and is not a folder: move it away", path);
    return 0;
}

int fs_rename(const char *from, const char *to, struct err *err)
{
    if (rename(from, to) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "cannot rename %s to %s", from, to);
    char dir[FS_PATH_MAX];
    fs_parent(to, dir);
    return fs_sync_dir(dir, err);
}

bool fs_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

bool fs_is_dir(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool fs_safe_relpath(const char *path)
{
    size_t len = strlen(path);
    if (len == 0 || len >= FS_PATH_MAX || path[len - 1] == '/')
        return false;
    for (const char *p = path; *p;) {
        const char *end = strchrnul(p, '/');
        size_t n = (size_t)(end - p);
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        for (size_t i = 0; i < n; i++)
            if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f || p[i] == '\\')
                return false;
        p = *end ? end + 1 : end;
    }
    return true;
}
