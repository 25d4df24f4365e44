#include "executor/workdir/held.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASIDE_MAX = 1000 };

bool held_is_at(int fd, const char *path)
{
    struct stat own, other;
    return fstat(fd, &own) == 0 && lstat(path, &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

void held_open_up(const char *dir)
{
    struct stat st;
    if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 0700) != 0700)
        (void)chmod(dir,
                    (st.st_mode & 07777) | 0700); /* if it fails, so does writing there, with its reason */
}

static int open_folder(const char *path)
{
    return open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int held_open(const char *path, struct err *err)
{
    int fd = open_folder(path);
    if (fd < 0 && (fs_remove_tree(path, err) != 0 || fs_mkdir_p(path, 0700, err) != 0))
        return -1;
    if (fd < 0)
        fd = open_folder(path);
    return fd >= 0 ? fd : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open the folder", path);
}

/* Moves what is there aside within its folder, whose owner may rename it whatever it is and whoever owns it.
 * A mount cannot be renamed, so nothing in one is removed. aside: char[FS_PATH_MAX], "" if nothing was
 * there. */
static int move_aside(const char *path, char *aside, struct err *err)
{
    char dir[FS_PATH_MAX], name[NAME_MAX + 1];
    const char *last = strrchr(path, '/');
    fs_parent(path, dir);
    errno = EEXIST;
    for (unsigned i = 1; i <= ASIDE_MAX; i++) {
        snprintf(name, sizeof name, ".%.200s.replaced-%u", last ? last + 1 : path, i);
        if (fs_join(aside, err, dir, name) != 0)
            return -1;
        if (faccessat(AT_FDCWD, aside, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        if (rename(path, aside) == 0)
            return 0;
        if (errno != ENOENT)
            break;
        *aside = '\0';
        return 0;
    }
    return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot move what stands in its place", path);
}

int held_make(const char *path, struct err *left, struct err *err)
{
    char aside[FS_PATH_MAX];
    *left = (struct err){.kind = ERR_NONE};
    if (move_aside(path, aside, err) != 0)
        return -1;
    if (*aside)
        (void)fs_remove_tree(aside, left);
    return held_open(path, err);
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

/* Somebody has taken the name away, but the contents can still be read through the descriptor. */
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
    if ((held_is_at(fd, part) || restore(fd, part) == 0) && rename(part, path) == 0)
        return 0;
    return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot write", path);
}
