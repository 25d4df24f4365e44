#include "executor/commands/commands.h"

#include "common/base/alloc.h"
#include "common/contract/proto.h"
#include "executor/bundle/fault.h"
#include "executor/bundle/journal.h"
#include "executor/bundle/manifest.h"
#include "executor/workdir/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEEP_ALIVE_MS = 2000, GATHER_MS = 50, PIECE = 256 << 10 };

struct follower {
    char dir[FS_PATH_MAX], events[FS_PATH_MAX], lock[FS_PATH_MAX];
    int64_t offset;
    int file, inotify, pidfd, out;
    char *data;     /* PIECE bytes */
    int64_t within; /* bytes that were sent of a line that has not ended */
    pid_t stopped;  /* the supervisor, while it is stopped; 0 */
};

static int open_all(struct follower *f, const struct layout *l, const char *run_id, struct err *err)
{
    const char *dir = f->dir;
    if (layout_run(l, f->dir, run_id, err) != 0 || fs_join(f->events, err, dir, RUN_EVENTS) != 0 ||
        fs_join(f->lock, err, dir, RUN_LOCK) != 0)
        return -1;
    if (!fs_is_dir(dir))
        return err_set(err, ERR_INPUT, "no run %s in %s/runs", run_id, l->workdir);
    f->data = xmalloc(PIECE);
    f->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (f->inotify < 0 ||
        inotify_add_watch(f->inotify, dir, IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF) < 0)
        return err_set_errno(err, ERR_NODE, errno, "%s: cannot watch", dir);
    return 0;
}

/* Whether the file has lost what was sent: a test has cut it, or the executor what a test had written. */
static bool was_cut(const struct follower *f)
{
    struct stat st;
    return fstat(f->file, &st) == 0 && st.st_size < f->offset;
}

/* Sends all complete lines, from the start again if the file was cut, which the events' numbers show; of a
 * line that is too long for any of ours, the beginning. 1 something was sent, 0 nothing, -1 error. */
static int send_lines(struct follower *f, struct err *err)
{
    int sent = 0;
    if (f->file < 0)
        f->file = open(f->events, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (f->file >= 0 && was_cut(f)) {
        if (f->within > 0 && fs_write_all(f->out, "\n", 1) != 0)
            return err_set_errno(err, ERR_NODE, errno, "cannot write events");
        f->offset = f->within = 0;
    }
    while (f->file >= 0 && f->within <= JOURNAL_FOREIGN_MAX) {
        ssize_t n = pread(f->file, f->data, PIECE, f->offset);
        if (n < 0)
            return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot read", f->events);
        const char *end = memrchr(f->data, '\n', (size_t)n);
        if (!end)
            end = n == PIECE ? f->data + PIECE - 1 : NULL; /* a part of a line that is none of ours */
        if (!end)
            return sent;
        size_t len = (size_t)(end - f->data) + 1;
        f->within = *end == '\n' ? 0 : f->within + (int64_t)len;
        if (fs_write_all(f->out, f->data, len) != 0)
            return err_set_errno(err, ERR_NODE, errno, "cannot write events");
        f->offset += (int64_t)len;
        sent = 1;
    }
    return sent;
}

/* True while a supervisor holds the run; its end will then wake us. */
static bool is_supervised(struct follower *f)
{
    struct lock_holder holder;
    if (f->pidfd >= 0)
        close(f->pidfd);
    f->pidfd = -1;
    if (lock_look(f->lock, &holder, NULL) != 0 || !holder.held)
        return false;
    f->pidfd = lock_holder_pidfd(&holder);
    f->stopped = f->pidfd >= 0 && lock_holder_is_stopped(&holder) ? holder.pid : 0;
    return true; /* possibly by a submit that is about to hand it over */
}

static void drain(int fd)
{
    char data[4096];
    while (read(fd, data, sizeof data) > 0)
        continue;
}

/* A line without news; one that begins with a blank is not of the journal. */
static int keep_alive(const struct follower *f)
{
    char line[64] = "\n";
    if (f->stopped)
        snprintf(line, sizeof line, FOLLOW_STOPPED "%ld\n", (long)f->stopped);
    return fs_write_all(f->out, line, strlen(line));
}

/* Waits for news. -1 when the reader is gone. */
static int wait_for_news(struct follower *f, bool *supervisor_ended, struct err *err)
{
    struct pollfd p[] = {{.fd = f->inotify, .events = POLLIN},
                         {.fd = f->pidfd, .events = POLLIN},
                         {.fd = f->out, .events = 0}};
    int n = poll(p, 3, KEEP_ALIVE_MS);
    if (n < 0 && errno != EINTR)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot wait");
    if (p[2].revents & (POLLERR | POLLHUP))
        return err_set(err, ERR_NODE, "the reader of the events is gone");
    bool between = f->within == 0 || f->within > JOURNAL_FOREIGN_MAX;
    if (n == 0 && between && keep_alive(f) != 0)
        return err_set_errno(err, ERR_NODE, errno, "cannot write events");
    if (n > 0 && p[0].revents)
        drain(f->inotify);
    *supervisor_ended = n == 0 || (n > 0 && p[1].revents);
    return 0;
}

static int follow_run(struct follower *f, struct err *err)
{
    bool look = true;
    for (;;) {
        /* A test can make a file of that name: it counts only once nobody supervises the run. Looked at
         * before the last lines are read, so that all that was written is sent. */
        bool alive = !(look || manifest_is_there(f->dir)) || is_supervised(f);
        int sent = send_lines(f, err);
        if (sent < 0)
            return -1;
        if (!alive)
            return manifest_is_there(f->dir) ? FOLLOW_COMPLETE : FOLLOW_DEAD;
        /* What follows soon is sent together, so that short tests are not each disturbed by their reader. */
        if (sent > 0)
            poll(&(struct pollfd){.fd = f->pidfd, .events = POLLIN}, 1, GATHER_MS);
        look = false;
        if (wait_for_news(f, &look, err) != 0)
            return -1;
    }
}

static void explain_end(const struct layout *layout, const char *run_id, struct err *err)
{
    char dir[FS_PATH_MAX], fault[FAULT_MAX] = "";
    if (layout_run(layout, dir, run_id, err) == 0)
        fault_read(dir, fault);
    err_set(err, ERR_NODE, "the run %s no longer has a supervisor: %s", run_id,
            *fault ? fault : "its executor was killed, or the node went down; submit it again to resume it");
}

static void close_all(const struct follower *f)
{
    const int fds[] = {f->file, f->inotify, f->pidfd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(f->data);
}

int follow(const struct layout *layout, const char *run_id, int64_t offset, int out_fd, struct err *err)
{
    AUTO(close_all)
    struct follower f = {.offset = offset, .file = -1, .inotify = -1, .pidfd = -1, .out = out_fd};
    if (open_all(&f, layout, run_id, err) != 0)
        return -1;
    int rc = follow_run(&f, err);
    if (rc == FOLLOW_DEAD)
        explain_end(layout, run_id, err);
    return rc;
}
