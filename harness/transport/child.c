#include "harness/transport/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20 };

struct child {
    pid_t pid;
    int pidfd;
    int in, out, err; /* our ends, -1 when closed */
    bool exited;
    int status;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* After fork(): only what is safe in a signal handler. */
static void become(const char *const *argv, const char *cwd, bool keep_terminal, const int fds[3])
{
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (!keep_terminal)
        setsid();
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 0; i < 3; i++) {
        if (dup2(fds[i], i) < 0)
            _exit(126);
    }
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (cwd && chdir(cwd) < 0) {
        dprintf(2, "%s: %s\n", cwd, strerrordesc_np(errno));
        _exit(126);
    }
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    int why = errno;
    dprintf(2, "%s: %s\n", argv[0], strerrordesc_np(why));
    _exit(why == ENOENT ? 127 : 126);
}

static int set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

/* A descriptor below 3 would be overwritten by dup2() before it is used. */
static int above_stdio(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high;
}

/* Wide, so that on a busy machine the client need not wait for our turn after every 64 KiB. */
static int open_pipe(int *read_end, int *write_end)
{
    int p[2];
    if (pipe2(p, O_CLOEXEC) < 0)
        return -1;
    fcntl(p[0], F_SETPIPE_SZ, PIPE_BYTES); /* as it is where that is not granted */
    *read_end = above_stdio(p[0]);
    *write_end = above_stdio(p[1]);
    return *read_end < 0 || *write_end < 0 ? -1 : 0;
}

static int start(struct child *c, const char *const *argv, const char *cwd, struct err *err)
{
    int theirs[3] = {-1, -1, -1};
    *c = (struct child){.pid = 0, .pidfd = -1, .in = -1, .out = -1, .err = -1};
    int rc = -1;
    if (open_pipe(&theirs[0], &c->in) < 0 || open_pipe(&c->out, &theirs[1]) < 0 ||
        open_pipe(&c->err, &theirs[2]) < 0 || set_nonblocking(c->in) < 0 || set_nonblocking(c->out) < 0 ||
        set_nonblocking(c->err) < 0) {
        err_set_errno(err, ERR_INTERNAL, errno, "%s: cannot make a pipe", argv[0]);
        goto out;
    }
    c->pid = fork();
    if (c->pid == 0)
        become(argv, cwd, false, theirs);
    if (c->pid < 0) {
        err_set_errno(err, ERR_INTERNAL, errno, "%s: cannot start a process", argv[0]);
        goto out;
    }
    c->pidfd = pidfd_open(c->pid, 0);
    if (c->pidfd < 0) {
        err_set_errno(err, ERR_INTERNAL, errno, "%s: cannot watch the process", argv[0]);
        goto out;
    }
    rc = 0;
out:
    for (int i = 0; i < 3; i++)
        close_fd(&theirs[i]);
    return rc;
}

void transport_child_kill(pid_t pid)
{
    if (pid <= 0)
        return;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL); /* it may lead no group, or not yet */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void release(struct child *c)
{
    if (!c->exited)
        transport_child_kill(c->pid > 0 ? c->pid : 0);
    close_fd(&c->pidfd);
    close_fd(&c->in);
    close_fd(&c->out);
    close_fd(&c->err);
}

static int send_input(struct child *c, struct transport_io *io, struct err *err)
{
    if (transport_io_fill(io, err))
        return -1;
    if (io->in_len > 0) {
        ssize_t n = write(c->in, io->in, io->in_len);
        if (n > 0)
            transport_io_sent(io, (size_t)n);
        else if (errno != EAGAIN && errno != EINTR)
            transport_io_drop_input(io); /* it reads no more; that is its right */
    }
    if (io->in_len == 0 && io->in_end)
        close_fd(&c->in);
    return 0;
}

typedef int sink_fn(struct transport_io *io, const char *data, size_t len, struct err *err);

static int take_output(int *fd, struct transport_io *io, sink_fn *sink, struct err *err)
{
    char data[TRANSPORT_IO_CHUNK];
    ssize_t n = read(*fd, data, sizeof data);
    if (n > 0)
        return sink(io, data, (size_t)n, err);
    if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(fd);
    return 0;
}

static void reap(struct child *c)
{
    pid_t got = waitpid(c->pid, &c->status, WNOHANG);
    if (got != c->pid)
        return;
    c->exited = true;
    close_fd(&c->pidfd);
    close_fd(&c->in);
}

/* One round: wait, then serve every descriptor that is ready. */
static int turn(struct child *c, struct transport_io *io, struct err *err)
{
    struct pollfd fds[] = {
        {.fd = c->in, .events = POLLOUT},
        {.fd = c->out, .events = POLLIN},
        {.fd = c->err, .events = POLLIN},
        {.fd = c->pidfd, .events = POLLIN},
    };
    int n = poll(fds, 4, transport_io_poll_ms(io));
    if (n < 0 && errno != EINTR)
        return err_set_errno(err, ERR_INTERNAL, errno, "poll");
    if (transport_io_check(io, err))
        return -1;
    if (n <= 0)
        return 0;
    if (fds[0].revents && send_input(c, io, err))
        return -1;
    if (fds[1].revents && take_output(&c->out, io, transport_io_stdout, err))
        return -1;
    if (fds[2].revents && take_output(&c->err, io, transport_io_stderr, err))
        return -1;
    if (fds[3].revents)
        reap(c);
    return 0;
}

static void set_result(const struct child *c, struct transport_result *res)
{
    if (WIFEXITED(c->status)) {
        res->exited = true;
        res->exit_code = WEXITSTATUS(c->status);
        return;
    }
    const char *name = sigabbrev_np(WTERMSIG(c->status));
    snprintf(res->signal, sizeof res->signal, "%s", name ? name : "?");
}

/* A program that stops reading must not kill us: SIGPIPE is held back in this thread, and one that we caused
 * is taken off again. */
static void hold_sigpipe(sigset_t *before, bool *was_pending)
{
    sigset_t set;
    sigpending(&set);
    *was_pending = sigismember(&set, SIGPIPE) == 1;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

static void release_sigpipe(const sigset_t *before, bool was_pending)
{
    static const struct timespec now = {0};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    if (!was_pending)
        while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

int transport_child_run(const struct transport_cmd *cmd, const char *cwd, const struct transport_scope *scope,
                        struct transport_result *res, struct err *err)
{
    struct transport_io io;
    if (transport_io_begin(&io, cmd, res, scope, err))
        return -1;
    sigset_t mask;
    bool pending;
    hold_sigpipe(&mask, &pending);
    struct child c;
    int rc = start(&c, cmd->argv, cwd, err);
    while (rc == 0 && (!c.exited || c.out >= 0 || c.err >= 0))
        rc = turn(&c, &io, err);
    if (rc == 0)
        set_result(&c, res);
    release(&c);
    release_sigpipe(&mask, pending);
    transport_io_end(&io);
    return rc;
}

int transport_child_capture(const char *const *argv, double deadline_s, const struct transport_scope *scope,
                            struct buf *out, struct transport_result *res, struct err *err)
{
    struct transport_cmd cmd = {
        .argv = argv, .on_stdout = transport_collect, .on_stdout_arg = out, .deadline_s = deadline_s};
    return transport_child_run(&cmd, NULL, scope, res, err);
}

int transport_child_start_on_socket(const char *const *argv, bool keep_terminal, pid_t *pid, int *fd,
                                    struct err *err)
{
    int pair[2] = {-1, -1};
    int null = above_stdio(open("/dev/null", O_RDWR | O_CLOEXEC));
    if (null < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        goto fail;
    pair[1] = above_stdio(pair[1]);
    if (pair[1] < 0 || set_nonblocking(pair[0]) < 0)
        goto fail;
    pid_t child = fork();
    if (child == 0)
        become(argv, NULL, keep_terminal, (int[]){pair[1], pair[1], null});
    if (child < 0)
        goto fail;
    close_fd(&null);
    close_fd(&pair[1]);
    *pid = child;
    *fd = pair[0];
    return 0;
fail:
    err_set_errno(err, ERR_INTERNAL, errno, "%s: cannot start", argv[0]);
    close_fd(&null);
    close_fd(&pair[0]);
    close_fd(&pair[1]);
    return -1;
}

bool transport_child_on_path(const char *name)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        char full[4096];
        int n = snprintf(full, sizeof full, "%.*s/%s", (int)len, path, name);
        if (len > 0 && n > 0 && (size_t)n < sizeof full && access(full, X_OK) == 0)
            return true;
        path += len + (path[len] == ':');
    }
    return false;
}
