/* fs_publish: fs_publish() of fs.h. */
#include "common/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file_of(int fd, const char *path)
{
    struct stat open_one, there;
    return fstat(fd, &open_one) == 0 && lstat(path, &there) == 0 && open_one.st_dev == there.st_dev &&
           open_one.st_ino == there.st_ino;
}

static int copy(int from, int to)
{
    char data[1 << 16];
    ssize_t n;
    for (off_t at = 0; (n = pread(from, data, sizeof data, at)) != 0; at += n > 0 ? n : 0)
        if ((n < 0 && errno != EINTR) || (n > 0 && fs_write_all(to, data, (size_t)n) != 0))
            return -1;
    return 0;
}

int fs_create_anew(const char *path, mode_t mode, struct err *err)
{
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(path, flags, mode);
    if (fd < 0 && errno == EEXIST && fs_remove_tree(path, err) == 0)
        fd = open(path, flags, mode);
    return fd >= 0 ? fd : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot create", path);
}

/* The file has lost its name, or its folder. */
static int name_again(int fd, const char *part, struct err *err)
{
    char dir[FS_PATH_MAX];
    struct stat st;
    fs_parent(part, dir);
    bool there = lstat(dir, &st) == 0 && S_ISDIR(st.st_mode); /* a link leads to who knows where */
    if (!there && (fs_remove_tree(dir, err) != 0 || fs_mkdir_p(dir, 0700, err) != 0))
        return -1;
    (void)chmod(dir, 0700);
    int to = fs_create_anew(part, 0600, err);
    if (to < 0)
        return -1;
    int failed = copy(fd, to) != 0 ? errno : 0;
    close(to);
    return failed ? err_set_errno(err, ERR_STORAGE, failed, "%s: cannot write", part) : 0;
}

int fs_publish(int fd, const char *part, const char *path, struct err *err)
{
    struct stat st;
    if (is_file_of(fd, part) && rename(part, path) == 0)
        return 0;
    if (!is_file_of(fd, part) && name_again(fd, part, err) != 0)
        return -1;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && fs_remove_tree(path, err) != 0)
        return -1;
    return fs_rename(part, path, err);
}
