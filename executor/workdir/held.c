#include "executor/workdir/held.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASIDE_MAX = 1000 };

static bool is_at(int fd, const char *path)
{
    struct stat own, other;
    return fstat(fd, &own) == 0 && lstat(path, &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

static int open_folder(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int set_path(struct held *h, const char *path, struct err *err)
{
    *h = HELD_NONE;
    if (strlen(path) >= sizeof h->path)
        return err_set(err, ERR_INPUT, "path too long: %.200s", path);
    snprintf(h->path, sizeof h->path, "%s", path);
    return 0;
}

static int open_or_make(struct held *h, struct err *err)
{
    h->fd = open_folder(h->path);
    if (h->fd < 0 && (fs_remove_tree(h->path, err) != 0 || fs_mkdir_p(h->path, 0700, err) != 0))
        return -1;
    if (h->fd < 0)
        h->fd = open_folder(h->path);
    return h->fd >= 0 ? 0 : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open the folder", h->path);
}

int held_open(struct held *h, const char *path, struct err *err)
{
    return set_path(h, path, err) == 0 ? open_or_make(h, err) : -1;
}

/* Within its folder, whose owner may rename whatever it is and whosever. */
static int move_aside(struct held *h, struct err *err)
{
    char dir[FS_PATH_MAX], name[NAME_MAX + 1], path[FS_PATH_MAX];
    const char *last = strrchr(h->path, '/');
    fs_parent(h->path, dir);
    errno = EEXIST;
    for (unsigned i = 1; i <= ASIDE_MAX; i++) {
        snprintf(name, sizeof name, ".%.200s.replaced-%u", last ? last + 1 : h->path, i);
        if (fs_join(path, err, dir, name) != 0)
            return -1;
        if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        if (rename(h->path, path) == 0)
            memcpy(h->aside, path, sizeof h->aside);
        else if (errno != ENOENT)
            break;
        return 0;
    }
    return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot move what stands in its place", h->path);
}

int held_make(struct held *h, const char *path, struct err *err)
{
    struct err ignored;
    if (set_path(h, path, err) != 0 || (fs_remove_tree(path, &ignored) != 0 && move_aside(h, err) != 0))
        return -1;
    return open_or_make(h, err);
}

void held_close(struct held *h)
{
    if (h->fd >= 0)
        close(h->fd);
    h->fd = -1;
}

/* False when it is gone, or on another file system now. */
static bool move_back(const struct held *h)
{
    char link[64], from[FS_PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", h->fd);
    ssize_t n = readlink(link, from, sizeof from - 1);
    from[n > 0 ? n : 0] = '\0';
    return n > 0 && is_at(h->fd, from) && rename(from, h->path) == 0;
}

/* What was mounted over it has not moved it. */
static void unmount_over(const struct held *h)
{
    while (!is_at(h->fd, h->path) && umount2(h->path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        ;
}

int held_look(struct held *h, enum held_state *out, struct err *err)
{
    *out = HELD_IN_PLACE;
    if (h->fd < 0 || is_at(h->fd, h->path))
        return 0;
    *out = HELD_PUT_BACK;
    unmount_over(h);
    if (is_at(h->fd, h->path))
        return 0;
    if (move_aside(h, err) != 0)
        return -1;
    if (move_back(h))
        return 0;
    *out = HELD_LOST;
    held_close(h);
    return open_or_make(h, err);
}

int held_clear(struct held *h, struct err *err)
{
    int rc = *h->aside ? fs_remove_tree(h->aside, err) : 0;
    *h->aside = '\0';
    return rc;
}

int held_create(const char *path)
{
    struct err ignored;
    if (unlink(path) != 0 && errno != ENOENT)
        (void)fs_remove_tree(path, &ignored);
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static int copy(int from, int to)
{
    char data[64 << 10];
    ssize_t n;
    for (off_t at = 0; (n = pread(from, data, sizeof data, at)) > 0; at += n) {
        if (fs_write_all(to, data, (size_t)n) != 0)
            return -1;
    }
    return n == 0 ? 0 : -1;
}

/* Somebody has taken the name away: what is in the file is still there. */
static int restore(int fd, const char *part)
{
    int to = held_create(part), rc = to < 0 ? -1 : copy(fd, to), saved = errno;
    if (to >= 0 && close(to) != 0 && rc == 0) {
        saved = errno;
        rc = -1;
    }
    errno = saved;
    return rc;
}

int held_publish(int fd, const char *part, const char *path, struct err *err)
{
    struct err ignored;
    struct stat st;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        (void)fs_remove_tree(path, &ignored);
    if ((is_at(fd, part) || restore(fd, part) == 0) && rename(part, path) == 0)
        return 0;
    return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot write", path);
}
