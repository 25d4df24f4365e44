/* fs_remove: fs_remove_tree() of fs.h. Folders deeper than DEPTH_MAX are moved up to the tree's root and
 * removed from there, so that neither the depth of a foreign tree nor the length of its paths can keep it
 * from being removed. */
#include "common/base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64, NAME_MAX_BYTES = 64 };

struct removal {
    int root;       /* the folder that is being emptied */
    uint64_t mount; /* in which it lies; 0 where the kernel does not tell */
    unsigned moved; /* folders that were moved up into it */
};

static int remove_at(struct removal *r, int dirfd, const char *name, int depth);

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static uint64_t mount_of(int fd)
{
    struct statx st;
    bool told = statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) == 0 && (st.stx_mask & STATX_MNT_ID);
    return told ? st.stx_mnt_id : 0;
}

/* What a workload has mounted below, such as a user's home, is not the tree's. */
static bool is_mounted_here(const struct removal *r, int fd)
{
    uint64_t mount = r->mount ? mount_of(fd) : 0;
    return mount != 0 && mount != r->mount;
}

/* Opens a folder whose contents are to be removed. Its owner may have no right to that: a build may have left
 * it read-only. */
static DIR *open_folder(int dirfd, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    struct stat st;
    int fd = openat(dirfd, name, flags);
    if (fd < 0 && errno == EACCES && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(st.st_mode) && fchmodat(dirfd, name, 0700, 0) == 0)
        fd = openat(dirfd, name, flags);
    if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
        (void)fchmod(fd, 0700); /* if it fails, so does removing, with its reason */
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

/* If it is not a folder, errno is that of the unlink() that failed before. */
static DIR *open_folder_or_why(int dirfd, const char *name)
{
    int why = errno;
    DIR *dir = open_folder(dirfd, name);
    if (!dir && (errno == ENOTDIR || errno == ELOOP))
        errno = why;
    return dir;
}

static int empty_folder(struct removal *r, DIR *dir, int depth)
{
    int failed = is_mounted_here(r, dirfd(dir)) ? EBUSY : 0;
    for (struct dirent *e; !failed && (e = readdir(dir));)
        if (!is_dots(e->d_name) && remove_at(r, dirfd(dir), e->d_name, depth) != 0)
            failed = errno;
    errno = failed;
    return failed ? -1 : 0;
}

static int move_up(struct removal *r, int dirfd, const char *name)
{
    char up[NAME_MAX_BYTES];
    do
        snprintf(up, sizeof up, ".removing-%u", r->moved++);
    while (faccessat(r->root, up, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    return renameat(dirfd, name, r->root, up);
}

static int remove_at(struct removal *r, int dirfd, const char *name, int depth)
{
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    if (depth > DEPTH_MAX)
        return move_up(r, dirfd, name);
    DIR *dir = open_folder_or_why(dirfd, name);
    if (!dir)
        return -1;
    int rc = empty_folder(r, dir, depth + 1), why = errno;
    closedir(dir);
    errno = why;
    return rc == 0 ? unlinkat(dirfd, name, AT_REMOVEDIR) : -1;
}

/* Folders that were moved up during a reading may be missed, so the root is read until nothing was moved. */
static int empty_root(DIR *dir)
{
    struct removal r = {.root = dirfd(dir), .mount = mount_of(dirfd(dir))};
    for (unsigned before = 0;; before = r.moved) {
        if (empty_folder(&r, dir, 1) != 0)
            return -1;
        if (r.moved == before)
            return 0;
        rewinddir(dir);
    }
}

static int remove_tree(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    DIR *dir = open_folder_or_why(AT_FDCWD, path);
    if (!dir)
        return -1;
    int rc = empty_root(dir), why = errno;
    closedir(dir);
    errno = why;
    return rc == 0 ? rmdir(path) : -1;
}

int fs_remove_tree(const char *path, struct err *err)
{
    return remove_tree(path) == 0 ? 0 : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot remove", path);
}
