#include "executor/workdir/lock.h"

#include "common/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TEXT_MAX = 256, PROC_STAT_MAX = 1024, START_TIME_FIELD = 22 };

/* What else stands in the place of a lock file was put there by a test, which may also have closed the file.
 */
static void make_room(const char *path)
{
    struct stat st;
    struct err ignored;
    if (lstat(path, &st) != 0)
        return;
    if (!S_ISREG(st.st_mode))
        (void)fs_remove_tree(path, &ignored);
    else if ((st.st_mode & 0600) != 0600)
        (void)chmod(path, 0600);
}

int lock_open(struct lock *lock, const char *path, struct err *err)
{
    make_room(path);
    lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock->fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open the lock file", path);
    return 0;
}

/* O_CREAT is left out for existing files: in sticky folders the kernel refuses it for another user's file. */
static int open_or_create(const char *path)
{
    static const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    for (int tries = 0; tries < 2; tries++) {
        int fd = open(path, flags);
        if (fd >= 0 || errno != ENOENT)
            return fd;
        mode_t mask = umask(0); /* writable by all users from the start */
        fd = open(path, flags | O_CREAT | O_EXCL, 0666);
        umask(mask);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

int lock_open_shared(struct lock *lock, const char *path, struct err *err)
{
    struct stat st;
    lock->fd = open_or_create(path);
    if (lock->fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open the lock file", path);
    if (fstat(lock->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
        return 0;
    lock_close(lock);
    return err_set(err, ERR_STORAGE, "%s: not a regular file with a single name", path);
}

void lock_close(struct lock *lock)
{
    if (lock->fd >= 0)
        close(lock->fd);
    lock->fd = -1;
}

static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

int lock_try(struct lock *lock, struct err *err)
{
    struct flock fl = whole_file();
    if (fcntl(lock->fd, F_OFD_SETLK, &fl) == 0)
        return 1;
    if (errno == EAGAIN || errno == EACCES)
        return 0;
    return err_set_errno(err, ERR_STORAGE, errno, "cannot lock");
}

int lock_try_after(struct lock *lock, const char *path, const char *what, struct err *err)
{
    const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
    struct lock_holder holder;
    int rc = lock_try(lock, err);
    for (int turns = 0; rc == 0 && turns < 250; turns++) {
        if (lock_look(path, &holder, err) != 0)
            return -1;
        if (holder.held && strcmp(holder.what, what) != 0)
            return 0;
        nanosleep(&moment, NULL);
        rc = lock_try(lock, err);
    }
    return rc;
}

pid_t lock_wait_start(struct lock *lock, struct err *err)
{
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot start the waiter for the lock");
    if (pid > 0)
        return pid;
    struct flock fl = whole_file();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    while (fcntl(lock->fd, F_OFD_SETLKW, &fl) != 0) {
        if (errno != EINTR)
            _exit(1);
    }
    _exit(0);
}

/* Returns what /proc/PID/stat has after the command's name, which may contain anything; NULL: no such
 * process. text: char[PROC_STAT_MAX]. */
static const char *read_stat(pid_t pid, char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    ssize_t n = read(fd, text, PROC_STAT_MAX - 1);
    close(fd);
    if (n <= 0)
        return NULL;
    text[n] = '\0';
    return strrchr(text, ')');
}

uint64_t lock_process_start_time(pid_t pid)
{
    char text[PROC_STAT_MAX];
    const char *p = read_stat(pid, text);
    for (int field = 2; p && field < START_TIME_FIELD; field++) {
        p = strchr(p, ' ');
        p = p ? p + 1 : NULL;
    }
    return p ? strtoull(p, NULL, 10) : 0;
}

bool lock_holder_is_stopped(const struct lock_holder *holder)
{
    char text[PROC_STAT_MAX];
    const char *p = read_stat(holder->pid, text);
    return p && (strncmp(p, ") T", 3) == 0 || strncmp(p, ") t", 3) == 0);
}

int lock_describe(struct lock *lock, const char *what, struct err *err)
{
    char text[LOCK_TEXT_MAX];
    pid_t self = getpid();
    int n = snprintf(text, sizeof text, "%ld %" PRIu64 " %.100s\n", (long)self, lock_process_start_time(self),
                     what);
    if (ftruncate(lock->fd, 0) != 0 || pwrite(lock->fd, text, (size_t)n, 0) != n)
        return err_set_errno(err, ERR_STORAGE, errno, "cannot write who holds the lock");
    return 0;
}

int lock_look(const char *path, struct lock_holder *out, struct err *err)
{
    *out = (struct lock_holder){.held = false};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* it may be a FIFO */
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open the lock file", path);
    struct flock fl = whole_file();
    char text[LOCK_TEXT_MAX] = "";
    int rc = 0;
    if (fcntl(fd, F_OFD_GETLK, &fl) != 0)
        rc = err_set_errno(err, ERR_STORAGE, errno, "%s: cannot find out who holds the lock", path);
    else if (fl.l_type != F_UNLCK && pread(fd, text, sizeof text - 1, 0) >= 0) {
        long pid = 0;
        out->held = true;
        if (sscanf(text, "%ld %" SCNu64 " %100s", &pid, &out->start_time, out->what) >= 2)
            out->pid = (pid_t)pid;
    }
    close(fd);
    return rc;
}

int lock_holder_pidfd(const struct lock_holder *holder)
{
    if (!holder->held || holder->pid <= 0)
        return -1;
    int fd = pidfd_open(holder->pid, 0);
    if (fd >= 0 && lock_process_start_time(holder->pid) == holder->start_time)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
