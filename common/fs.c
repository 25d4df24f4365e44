#include "common/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FS_DEPTH_MAX = 64 };

int fs_join(char *out, struct err *err, const char *dir, const char *name)
{
    size_t len = strlen(dir);
    const char *slash = len > 0 && dir[len - 1] != '/' ? "/" : "";
    int n = snprintf(out, FS_PATH_MAX, "%s%s%s", dir, slash, name);
    if (n < 0 || n >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "path too long: %.200s/%.200s", dir, name);
    return 0;
}

static int read_fd(int fd, const char *path, size_t max, struct buf *out, struct err *err)
{
    char data[1 << 16];
    size_t total = 0;
    for (;;) {
        ssize_t n = read(fd, data, sizeof data);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot read", path);
        if (n == 0)
            return 0;
        total += (size_t)n;
        if (total > max)
            return err_set(err, ERR_INPUT, "%s: larger than the limit of %zu bytes", path, max);
        buf_add(out, data, (size_t)n);
        if (!buf_ok(out))
            return err_set(err, ERR_INTERNAL, "%s: no memory for its contents", path);
    }
}

/* Closes fd. */
static int read_regular(int fd, const char *path, size_t max, struct buf *out, mode_t *mode, struct err *err)
{
    struct stat st;
    int rc = -1;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        err_set(err, ERR_INPUT, "%s: not a regular file", path);
    else
        rc = read_fd(fd, path, max, out, err);
    if (rc == 0 && mode)
        *mode = st.st_mode & 07777;
    close(fd);
    return rc;
}

int fs_read_file(const char *path, size_t max, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set_errno(err, errno == ENOENT ? ERR_INPUT : ERR_STORAGE, errno, "%s: cannot open", path);
    return read_regular(fd, path, max, out, NULL, err);
}

/* The file, or -1 with errno; ELOOP or ENOTDIR for a link on the way. */
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
        return err_set_errno(err, errno == ENOENT ? ERR_INPUT : ERR_STORAGE, errno, "%s: cannot open", rel);
    return read_regular(fd, rel, max, out, mode, err);
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

static void parent_of(const char *path, char *out)
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

int fs_write_file(const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
    char tmp[FS_PATH_MAX + 32], dir[FS_PATH_MAX];
    if (strlen(path) >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "path too long: %.200s", path);
    snprintf(tmp, sizeof tmp, "%s.tmp.%ld", path, (long)getpid());
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot create", tmp);
    int failed = fs_write_all(fd, data, len) != 0 || fsync(fd) != 0 ? errno : 0;
    if (close(fd) != 0 && !failed)
        failed = errno;
    if (!failed && rename(tmp, path) != 0)
        failed = errno;
    if (failed) {
        unlink(tmp);
        return err_set_errno(err, ERR_STORAGE, failed, "%s: cannot write", path);
    }
    parent_of(path, dir);
    return fs_sync_dir(dir, err);
}

int fs_sync_dir(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open the folder", path);
    int failed = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return failed ? err_set_errno(err, ERR_STORAGE, failed, "%s: cannot sync", path) : 0;
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
        return err_set(err, ERR_STORAGE, "%s: exists and is not a folder", path);
    return 0;
}

static int remove_at(int dirfd, const char *name, int depth)
{
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    if (depth > FS_DEPTH_MAX) {
        errno = ELOOP;
        return -1;
    }
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    int failed = 0;
    for (struct dirent *e; !failed && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            remove_at(fd, e->d_name, depth + 1) != 0)
            failed = errno;
    closedir(dir);
    if (!failed && unlinkat(dirfd, name, AT_REMOVEDIR) == 0)
        return 0;
    errno = failed ? failed : errno;
    return -1;
}

int fs_remove_tree(const char *path, struct err *err)
{
    if (remove_at(AT_FDCWD, path, 0) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot remove", path);
    return 0;
}

int fs_rename(const char *from, const char *to, struct err *err)
{
    if (rename(from, to) != 0)
        return err_set_errno(err, ERR_STORAGE, errno, "cannot rename %s to %s", from, to);
    char dir[FS_PATH_MAX];
    parent_of(to, dir);
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

struct walk {
    bool skip_special;
    fs_walk_fn *fn;
    void *arg;
};

static int not_dots(const struct dirent *e)
{
    return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

/* As the paths below them sort: a folder's name counts with its '/', after "-" and ".". */
static int by_path(const void *a, const void *b)
{
    const struct dirent *x = *(struct dirent *const *)a, *y = *(struct dirent *const *)b;
    size_t n = 0;
    while (x->d_name[n] && x->d_name[n] == y->d_name[n])
        n++;
    unsigned char cx = (unsigned char)x->d_name[n], cy = (unsigned char)y->d_name[n];
    if (!cx && x->d_type == DT_DIR)
        cx = '/';
    if (!cy && y->d_type == DT_DIR)
        cy = '/';
    return (int)cx - (int)cy;
}

/* Some file systems do not say in the listing what is a folder. */
static void fill_types(const char *full, struct dirent **names, int n)
{
    char path[FS_PATH_MAX];
    struct stat st;
    for (int i = 0; i < n; i++)
        if (names[i]->d_type == DT_UNKNOWN && fs_join(path, NULL, full, names[i]->d_name) == 0 &&
            lstat(path, &st) == 0)
            names[i]->d_type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_LNK;
}

static int walk_dir(const struct walk *w, const char *full, const char *rel, int depth, struct err *err);

static int walk_entry(const struct walk *w, unsigned char type, const char *full, const char *rel, int depth,
                      struct err *err)
{
    if (type == DT_DIR)
        return walk_dir(w, full, rel, depth + 1, err);
    if (type == DT_REG)
        return w->fn(rel, full, w->arg, err);
    if (w->skip_special)
        return 0;
    return err_set(err, ERR_INPUT, "%s: neither a regular file nor a folder", full);
}

static int walk_dir(const struct walk *w, const char *full, const char *rel, int depth, struct err *err)
{
    if (depth > FS_DEPTH_MAX)
        return err_set(err, ERR_INPUT, "%s: folders nested deeper than %d", full, FS_DEPTH_MAX);
    struct dirent **names = NULL;
    int n = scandir(full, &names, not_dots, NULL);
    if (n < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot list", full);
    fill_types(full, names, n);
    if (n > 1)
        qsort(names, (size_t)n, sizeof *names, by_path);
    int rc = 0;
    for (int i = 0; i < n; i++) {
        char sub_full[FS_PATH_MAX], sub_rel[FS_PATH_MAX];
        if (rc == 0)
            rc =
                fs_join(sub_full, err, full, names[i]->d_name) || fs_join(sub_rel, err, rel, names[i]->d_name)
                    ? -1
                    : 0;
        if (rc == 0)
            rc = walk_entry(w, names[i]->d_type, sub_full, sub_rel, depth, err);
        free(names[i]);
    }
    free(names);
    return rc;
}

int fs_walk(const char *root, bool skip_special, fs_walk_fn *fn, void *arg, struct err *err)
{
    const struct walk w = {skip_special, fn, arg};
    return walk_dir(&w, root, "", 0, err);
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
