#include "reports/plot/gnuplot.h"

#include "common/base/clock.h"
#include "common/base/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_IN, CHILD_OUT, CHILD_ERR, CHILD_PIPES, MESSAGE_BYTES = 400 };

struct child {
    pid_t pid;
    int fd[CHILD_PIPES]; /* our ends; -1 when closed */
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Of the user's environment only PATH is kept. */
static int spawn(struct child *c, int theirs[CHILD_PIPES], struct err *err)
{
    const char *own = getenv("PATH");
    char path[4096 + 8] = "PATH=/usr/local/bin:/usr/bin:/bin";
    char locale[] = "LC_ALL=C", home[] = "HOME=/", name[] = "gnuplot", plain[] = "-d";
    char *env[] = {path, locale, home, NULL}, *argv[] = {name, plain, NULL};
    posix_spawn_file_actions_t actions;
    if (own && strlen(own) <= 4096)
        memcpy(path + 5, own, strlen(own) + 1);
    int rc = posix_spawn_file_actions_init(&actions);
    if (rc)
        return err_set_errno(err, ERR_STORAGE, rc, "gnuplot");
    for (int i = 0; rc == 0 && i < CHILD_PIPES; i++)
        rc = posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
    if (rc == 0)
        rc = posix_spawnp(&c->pid, name, &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    if (rc == ENOENT)
        return err_set(err, ERR_STORAGE, "gnuplot is not installed (apt-get install gnuplot-nox)");
    return rc ? err_set_errno(err, ERR_STORAGE, rc, "gnuplot") : 0;
}

static int start(struct child *c, struct err *err)
{
    int theirs[CHILD_PIPES] = {-1, -1, -1};
    int rc = 0;
    *c = (struct child){.pid = -1, .fd = {-1, -1, -1}};
    for (int i = 0; rc == 0 && i < CHILD_PIPES; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            rc = err_set_errno(err, ERR_STORAGE, errno, "gnuplot: socketpair");
            break;
        }
        c->fd[i] = pair[0];
        theirs[i] = pair[1];
    }
    if (rc == 0)
        rc = spawn(c, theirs, err);
    for (int i = 0; i < CHILD_PIPES; i++)
        close_fd(&theirs[i]);
    return rc;
}

static void write_some(struct child *c, const struct buf *script, size_t *sent)
{
    ssize_t n = send(c->fd[CHILD_IN], script->data + *sent, script->len - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
        *sent += (size_t)n;
    if (*sent == script->len || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_fd(&c->fd[CHILD_IN]);
}

static void read_some(int *fd, struct buf *out)
{
    char chunk[16384];
    ssize_t n = recv(*fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0)
        buf_add(out, chunk, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(fd);
}

/* Until the child has closed its ends. */
static int talk(struct child *c, const struct buf *script, int64_t deadline, struct buf *out,
                struct buf *messages, struct err *err)
{
    size_t sent = 0;
    while (c->fd[CHILD_OUT] >= 0 || c->fd[CHILD_ERR] >= 0) {
        struct pollfd p[CHILD_PIPES] = {{.fd = c->fd[CHILD_IN], .events = POLLOUT},
                                        {.fd = c->fd[CHILD_OUT], .events = POLLIN},
                                        {.fd = c->fd[CHILD_ERR], .events = POLLIN}};
        int left = clock_left_ms(deadline);
        int n = left == 0 ? 0 : poll(p, CHILD_PIPES, left);
        if (n == 0)
            return err_set(err, ERR_STORAGE, "gnuplot did not end in time");
        if (n < 0 && errno != EINTR)
            return err_set_errno(err, ERR_STORAGE, errno, "gnuplot: poll");
        if (n < 0)
            continue;
        if (p[CHILD_IN].revents)
            write_some(c, script, &sent);
        if (p[CHILD_OUT].revents)
            read_some(&c->fd[CHILD_OUT], out);
        if (p[CHILD_ERR].revents)
            read_some(&c->fd[CHILD_ERR], messages);
        if (!buf_ok(out))
            return err_set(err, ERR_STORAGE, "gnuplot wrote more than %zu bytes", out->max);
    }
    return 0;
}

/* Whether the child is gone by the deadline. */
static bool ended(pid_t pid, int64_t deadline)
{
    int fd = pidfd_open(pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int n = fd < 0 ? 0 : poll(&p, 1, clock_left_ms(deadline));
    close_fd(&fd);
    return n == 1;
}

static int reap(struct child *c, bool failed, int64_t deadline, const struct buf *messages, struct err *err)
{
    int status = 0;
    for (int i = 0; i < CHILD_PIPES; i++)
        close_fd(&c->fd[i]);
    if (c->pid < 0)
        return -1;
    if (!failed && !ended(c->pid, deadline))
        failed = err_set(err, ERR_STORAGE, "gnuplot did not end in time") != 0;
    if (failed)
        kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (failed)
        return -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    struct buf text;
    buf_init(&text, (size_t)MESSAGE_BYTES * 8);
    text_printable(&text, buf_str(messages), messages->len, MESSAGE_BYTES);
    err_set(err, ERR_STORAGE, "gnuplot failed: %s", buf_str(&text));
    buf_release(&text);
    return -1;
}

int gnuplot_run(const struct buf *script, double deadline_s, struct buf *out, struct err *err)
{
    struct child c;
    struct buf messages;
    int64_t deadline = clock_deadline_ns(deadline_s);
    buf_init(&messages, 1 << 20);
    int rc = start(&c, err);
    if (rc == 0)
        rc = talk(&c, script, deadline, out, &messages, err);
    rc = reap(&c, rc != 0, deadline, &messages, err);
    buf_release(&messages);
    return rc;
}
