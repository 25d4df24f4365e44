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

enum { FS_DEPTH_MAX = 64 };

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
    return buf_ok(out) ? rc : err_set(err, ERR_INTERNAL, "%s: no memory for its contents", path);
}

int fs_read_at(int dirfd, const char *rel, const char *path, size_t max, struct buf *out, struct err *err)
{
    int fd = openat(dirfd, rel, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set_errno(err, errno == ENOENT ? ERR_INPUT : ERR_STORAGE, errno, "%s: cannot open", path);
    return read_into(fd, path, max, out, err);
}

int fs_read_file(const char *path, size_t max, struct buf *out, struct err *err)
{
    return fs_read_at(AT_FDCWD, path, path, max, out, err);
}

/* The descriptor, or -1 with errno: ELOOP or ENOTDIR when a component is a link. */
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
    fs_parent(path, dir);
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

int fs_sync_filesystem(const char *dir, struct err *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = fd < 0 || syncfs(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return failed ? err_set_errno(err, ERR_STORAGE, failed, "%s: cannot sync", dir) : 0;
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

/* The entries of one folder, in the kernel's packed form. */
struct listing {
    char *data;
    size_t len, cap;
    struct dirent64 **entries;
    size_t count;
};

static void listing_release(struct listing *l)
{
    free(l->data);
    free(l->entries);
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* 1: there may be more; 0: end; -1: error in errno. */
static int read_entries(int fd, struct listing *l)
{
    static const size_t step = 1 << 13;
    if (!ALLOC_GROW(l->data, l->len + step, l->cap))
        return -1;
    ssize_t n = getdents64(fd, l->data + l->len, l->cap - l->len);
    if (n > 0)
        l->len += (size_t)n;
    return n < 0 ? -1 : n > 0;
}

/* Some file systems do not give types in the listing. */
static void fill_type(int fd, struct dirent64 *e)
{
    struct stat st;
    if (e->d_type == DT_UNKNOWN && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        e->d_type = (unsigned char)IFTODT(st.st_mode);
}

/* Counts the entries; with out, also collects them. */
static size_t select_entries(int fd, const struct listing *l, struct dirent64 **out)
{
    size_t n = 0;
    for (size_t at = 0; at < l->len;) {
        struct dirent64 *e = (void *)(l->data + at);
        at += e->d_reclen;
        if (is_dots(e->d_name))
            continue;
        if (out) {
            fill_type(fd, e);
            out[n] = e;
        }
        n++;
    }
    return n;
}

/* The order of full paths: a folder's name compares as if it ended in '/', which sorts after "-" and ".". */
static int by_path(const void *a, const void *b)
{
    const struct dirent64 *x = *(struct dirent64 *const *)a, *y = *(struct dirent64 *const *)b;
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

static int list_folder(int fd, struct listing *l)
{
    int rc;
    while ((rc = read_entries(fd, l)) > 0)
        ;
    if (rc != 0)
        return -1;
    l->count = select_entries(fd, l, NULL);
    l->entries = calloc(l->count + 1, sizeof(struct dirent64 *));
    if (!l->entries)
        return -1;
    select_entries(fd, l, l->entries);
    qsort(l->entries, l->count, sizeof(struct dirent64 *), by_path);
    return 0;
}

struct walk {
    bool skip_special;
    fs_walk_fn *fn;
    void *arg;
    char path[FS_PATH_MAX]; /* of the current folder or file */
    size_t rel;             /* offset at which the path below the root begins */
};

static int walk_dir(struct walk *w, int at, const char *name, size_t len, int depth, struct err *err);

/* w->path holds the folder's path, len bytes long. */
static int walk_entry(struct walk *w, int fd, const struct dirent64 *e, size_t len, int depth,
                      struct err *err)
{
    size_t n = strlen(e->d_name);
    if (len + n + 2 > sizeof w->path)
        return err_set(err, ERR_INPUT, "path too long: %.200s/%.200s", w->path, e->d_name);
    memcpy(w->path + len, e->d_name, n + 1);
    if (e->d_type == DT_DIR) {
        memcpy(w->path + len + n, "/", 2);
        return walk_dir(w, fd, e->d_name, len + n + 1, depth + 1, err);
    }
    if (e->d_type == DT_REG)
        return w->fn(w->path + w->rel, w->path, w->arg, err);
    if (w->skip_special)
        return 0;
    return err_set(err, ERR_INPUT, "%s: neither a regular file nor a folder", w->path);
}

static int walk_entries(struct walk *w, int fd, size_t len, int depth, struct err *err)
{
    struct listing l = {0};
    int rc = list_folder(fd, &l);
    if (rc != 0)
        err_set_errno(err, ERR_STORAGE, errno, "%s: cannot list", w->path);
    for (size_t i = 0; rc == 0 && i < l.count; i++)
        rc = walk_entry(w, fd, l.entries[i], len, depth, err);
    listing_release(&l);
    return rc;
}

/* w->path is len bytes long and ends in '/'. */
static int walk_dir(struct walk *w, int at, const char *name, size_t len, int depth, struct err *err)
{
    if (depth > FS_DEPTH_MAX)
        return err_set(err, ERR_INPUT, "%s: folders nested deeper than %d", w->path, FS_DEPTH_MAX);
    /* The root itself may be a link; entries below it may not. */
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot list", w->path);
    int rc = walk_entries(w, fd, len, depth, err);
    close(fd);
    return rc;
}

int fs_walk(const char *root, bool skip_special, fs_walk_fn *fn, void *arg, struct err *err)
{
    struct walk w = {.skip_special = skip_special, .fn = fn, .arg = arg};
    if (fs_join(w.path, err, root, "") != 0)
        return -1;
    w.rel = strlen(w.path);
    return walk_dir(&w, AT_FDCWD, root, w.rel, 0, err);
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
