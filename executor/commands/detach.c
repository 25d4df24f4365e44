#include "executor/commands/detach.h"

#include "common/base/clock.h"
#include "common/contract/proto.h"
#include "executor/bundle/fault.h"
#include "executor/run/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_LIMIT_MS = 10000 };

int detach_supervise(const struct layout *layout, const char *run_id, struct lock *lock)
{
    struct err err = {.kind = ERR_NONE};
    char dir[FS_PATH_MAX], now[CLOCK_ISO_LEN + 1];
    signal(SIGHUP, SIG_IGN);
    if (layout_run(layout, dir, run_id, &err) == 0) {
        fault_clear(dir);
        if (lock_describe(lock, run_id, &err) == 0 && supervise(layout, run_id, &err) == 0)
            return EXIT_DONE;
        fault_write(dir, err.msg);
    }
    clock_iso8601(clock_real_s(), now);
    fprintf(stderr, "%s kernsweep-executor: %s\n", now, err.msg);
    return (int)exit_code_of(&err);
}

int detach_foreground(const struct layout *layout, const char *run_id, struct err *err)
{
    char path[FS_PATH_MAX];
    struct lock lock = {.fd = -1};
    if (layout_run_file(layout, path, run_id, RUN_LOCK, err) != 0 || lock_open(&lock, path, err) != 0)
        return -1;
    int rc = lock_try(&lock, err);
    if (rc == 0)
        rc = err_set(err, ERR_NODE, "the run %s is already supervised", run_id);
    else if (rc == 1)
        rc = detach_supervise(layout, run_id, &lock);
    lock_close(&lock);
    return rc;
}

/* Keeps only 0-2 (/dev/null and the log), the lock, and `ready`, which is closed once the pid has been sent.
 */
static int close_inherited(const char *dir, struct lock *lock, int *ready)
{
    char log[FS_PATH_MAX];
    if (fs_join(log, NULL, dir, RUN_LOG) != 0 || chdir("/") != 0)
        return -1;
    int null = open("/dev/null", O_RDWR);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0600);
    out = out < 0 ? null : out; /* a test can put anything in the log's place */
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        return -1;
    /* The two are moved above 255, so that two ranges hold all other descriptors. */
    int keep_lock = fcntl(lock->fd, F_DUPFD_CLOEXEC, 256), keep_ready = fcntl(*ready, F_DUPFD_CLOEXEC, 256);
    if (keep_lock < 0 || keep_ready < 0 || close_range(3, 255, 0) != 0)
        return -1;
    unsigned high = (unsigned)(keep_lock > keep_ready ? keep_lock : keep_ready);
    close_range(high + 1, ~0u, 0);
    lock->fd = keep_lock;
    *ready = keep_ready;
    return 0;
}

static _Noreturn void grandchild(const struct layout *layout, const char *dir, const char *run_id,
                                 struct lock *lock, int ready)
{
    if (close_inherited(dir, lock, &ready) != 0)
        _exit(EXIT_LOCAL);
    pid_t self = getpid();
    (void)!write(ready, &self, sizeof self);
    close(ready);
    exit(detach_supervise(layout, run_id, lock));
}

static int wait_ready(int fd, pid_t *pid, struct err *err)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t deadline_ns = clock_deadline_ns(START_LIMIT_MS / 1e3);
    int n;
    do
        n = poll(&p, 1, clock_left_ms(deadline_ns));
    while (n < 0 && errno == EINTR);
    if (n > 0 && read(fd, pid, sizeof *pid) == (ssize_t)sizeof *pid)
        return 0;
    return err_set(err, ERR_NODE, "the supervisor did not start; see executor.log in the run's folder");
}

int detach_supervisor(const struct layout *layout, const char *dir, const char *run_id, struct lock *lock,
                      pid_t *pid, struct err *err)
{
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot make a pipe");
    fflush(NULL);
    pid_t middle = fork();
    if (middle == 0) {
        setsid();
        pid_t last = fork(); /* not a session leader, so it cannot acquire a terminal */
        if (last == 0)
            grandchild(layout, dir, run_id, lock, ready[1]);
        _exit(last < 0);
    }
    close(ready[1]);
    int rc =
        middle < 0 ? err_set_errno(err, ERR_INTERNAL, errno, "cannot fork") : wait_ready(ready[0], pid, err);
    close(ready[0]);
    if (middle > 0)
        waitpid(middle, NULL, 0);
    return rc;
}

int detach_again(const struct layout *layout, const char *run_id, struct err *err)
{
    char dir[FS_PATH_MAX], path[FS_PATH_MAX];
    struct lock lock = {.fd = -1};
    pid_t pid;
    if (layout_run(layout, dir, run_id, err) != 0 || fs_join(path, err, dir, RUN_LOCK) != 0)
        return -1;
    if (!fs_is_dir(dir))
        return err_set(err, ERR_INPUT, "no run %s in %s/runs", run_id, layout->workdir);
    if (lock_open(&lock, path, err) != 0)
        return -1;
    int rc = lock_try(&lock, err);
    if (rc == 1)
        rc = detach_supervisor(layout, dir, run_id, &lock, &pid, err);
    lock_close(&lock);
    return rc;
}
