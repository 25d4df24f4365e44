#include "common/base/temporary.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK ".tmp."

enum { SAME_NAME_MAX = 1000 };

static const double abandoned_s = 3600;

/* Returns the process that a temporary name tells, 0 if the name is none or of another file than `name`. */
static pid_t process_of(const char *entry, const char *name)
{
    const char *mark = NULL;
    for (const char *at = entry; (at = strstr(at, MARK)); at++)
        mark = at;
    if (!mark ||
        (name && ((size_t)(mark - entry) != strlen(name) || strncmp(entry, name, strlen(name)) != 0)))
        return 0;
    char *end;
    errno = 0;
    long pid = strtol(mark + strlen(MARK), &end, 10);
    bool plain = mark[strlen(MARK)] >= '1' && mark[strlen(MARK)] <= '9' && (!*end || *end == '-');
    return plain && errno == 0 && pid == (pid_t)pid ? (pid_t)pid : 0;
}

static bool has_ended(pid_t pid, const struct stat *st)
{
    return (kill(pid, 0) != 0 && errno == ESRCH) || clock_real_s() - (double)st->st_mtime > abandoned_s;
}

/* Returns 1 if nobody holds it, 0 if somebody does, -1 if that cannot be told. Some network file systems lock
 * only what is open for writing. */
static int is_free(const char *path)
{
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    AUTO_CLOSE int writable = open(path, O_RDWR | flags);
    AUTO_CLOSE int readable = writable < 0 ? open(path, O_RDONLY | flags) : -1;
    int fd = writable >= 0 ? writable : readable;
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 1;
    return fd >= 0 && errno == EWOULDBLOCK ? 0 : -1;
}

static void sweep_entry(const char *path, pid_t pid, json_t *left)
{
    struct stat st;
    if (lstat(path, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) || !has_ended(pid, &st))
        return;
    int free_now = is_free(path);
    if (free_now == 1 && st.st_uid == geteuid() && fs_remove_tree(path, NULL) == 0)
        return;
    if (free_now != 0 && left)
        json_array_append_new(left, json_string(path));
}

void temporary_sweep(const char *dir, const char *name, json_t *left)
{
    char path[FS_PATH_MAX];
    DIR *d = opendir(dir);
    for (const struct dirent *e; d && (e = readdir(d));) {
        pid_t pid = process_of(e->d_name, name);
        if (pid > 0 && fs_join(path, NULL, dir, e->d_name) == 0)
            sweep_entry(path, pid, left);
    }
    if (d)
        closedir(d);
}

void temporary_name(char out[TEMPORARY_PATH_MAX], const char *path)
{
    char dir[FS_PATH_MAX];
    const char *slash = strrchr(path, '/');
    fs_parent(path, dir);
    temporary_sweep(dir, slash ? slash + 1 : path, NULL);
    snprintf(out, TEMPORARY_PATH_MAX, "%s" MARK "%ld", path, (long)getpid());
}

int temporary_file(struct temporary *t, const char *path, mode_t mode, struct err *err)
{
    *t = (struct temporary){.fd = -1};
    if (strlen(path) >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "path too long: %.200s", path);
    temporary_name(t->path, path);
    t->fd = open(t->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (t->fd < 0) /* only a link in its place is a fault of the temporary name */
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot create", errno == ELOOP ? t->path : path);
    (void)flock(t->fd, LOCK_EX | LOCK_NB);
    return 0;
}

/* A command may have several folders of the same name, or find one of an earlier process with its number. */
int temporary_folder(struct temporary *t, const char *path, struct err *err)
{
    *t = (struct temporary){.fd = -1};
    if (strlen(path) >= FS_PATH_MAX)
        return err_set(err, ERR_INPUT, "path too long: %.200s", path);
    temporary_name(t->path, path);
    size_t len = strlen(t->path);
    int failed = mkdir(t->path, 0700) != 0 ? errno : 0;
    for (int i = 2; failed == EEXIST && i <= SAME_NAME_MAX; i++) {
        snprintf(t->path + len, sizeof t->path - len, "-%d", i);
        failed = mkdir(t->path, 0700) != 0 ? errno : 0;
    }
    if (failed) {
        err_set_errno(err, ERR_STORAGE, failed, "%s: cannot create the folder", t->path);
        t->path[0] = '\0';
        return -1;
    }
    t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (t->fd >= 0)
        (void)flock(t->fd, LOCK_EX | LOCK_NB);
    return 0;
}

void temporary_release(struct temporary *t)
{
    if (!*t->path)
        return;
    (void)fs_remove_tree(t->path, NULL);
    if (t->fd >= 0)
        close(t->fd);
    *t = (struct temporary){.fd = -1};
}
