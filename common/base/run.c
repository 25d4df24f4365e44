#include "common/base/run.h"

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20, CHUNK = 64 << 10, POLL_MS_MAX = 200, STDERR_QUOTE_MAX = 400 };

struct running {
    const struct run *run;
    struct run_result *res;
    pid_t pid;
    int pidfd;
    int in, out, err; /* our ends; -1 when closed */
    bool exited;
    int status;
    const char *at; /* input not yet written */
    size_t left;
    bool input_ended;
    char pulled[CHUNK];
    int64_t deadline_ns, moved_ns;
};

static const volatile sig_atomic_t *heeded;

void run_heed(const volatile sig_atomic_t *interrupted)
{
    heeded = interrupted;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* The pipe is large, so that on a busy machine the program does not block after every 64 KiB. */
static int open_pipe(int *theirs, int *ours, bool we_read)
{
    int p[2];
    if (pipe2(p, O_CLOEXEC) < 0)
        return -1;
    fcntl(p[0], F_SETPIPE_SZ, PIPE_BYTES); /* may fail at the user's limit, which is harmless */
    *ours = p[we_read ? 0 : 1];
    *theirs = p[we_read ? 1 : 0];
    return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static int open_outputs(struct running *r, int theirs[3])
{
    if (!r->run->output_to_stderr)
        return open_pipe(&theirs[1], &r->out, true) < 0 || open_pipe(&theirs[2], &r->err, true) < 0 ? -1 : 0;
    theirs[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    theirs[2] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    return theirs[1] < 0 || theirs[2] < 0 ? -1 : 0;
}

static int start_program(struct running *r, struct err *err)
{
    struct spawn s = {.argv = r->run->argv, .env = r->run->env, .cwd = r->run->cwd, .fds = {-1, -1, -1}};
    if (open_pipe(&s.fds[0], &r->in, false) < 0 || open_outputs(r, s.fds) < 0)
        err_set_errno(err, ERR_INTERNAL, errno, "cannot make a pipe");
    else
        r->pid = spawn_start(&s, err);
    for (int i = 0; i < 3; i++)
        close_fd(&s.fds[i]);
    if (r->pid <= 0)
        return -1;
    r->pidfd = pidfd_open(r->pid, 0);
    return r->pidfd >= 0 ? 0 : err_set_errno(err, ERR_INTERNAL, errno, "cannot watch a process");
}

static int fill_input(struct running *r, struct err *err)
{
    if (r->left > 0 || r->input_ended)
        return 0;
    ssize_t n = r->run->read ? r->run->read(r->run->read_arg, r->pulled, sizeof r->pulled, err) : 0;
    if (n < 0)
        return -1;
    r->at = r->pulled;
    r->left = (size_t)n;
    r->input_ended = n == 0;
    return 0;
}

static int send_input(struct running *r, struct err *err)
{
    if (fill_input(r, err) != 0)
        return -1;
    ssize_t n = r->left > 0 ? write(r->in, r->at, r->left) : 0;
    if (n > 0) {
        r->at += n;
        r->left -= (size_t)n;
        r->res->sent += (uint64_t)n;
        r->moved_ns = clock_mono_ns();
    } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        r->left = 0; /* the program closed its input, which is allowed */
        r->input_ended = true;
    }
    if (r->left == 0 && r->input_ended)
        close_fd(&r->in);
    return 0;
}

void run_keep_tail(char *tail, size_t *len, size_t max, const char *data, size_t n)
{
    if (n >= max) {
        data += n - max;
        n = max;
    }
    size_t kept = *len + n > max ? max - n : *len;
    memmove(tail, tail + *len - kept, kept);
    memcpy(tail + kept, data, n);
    *len = kept + n;
    tail[*len] = '\0';
}

static int read_output(struct running *r, int *fd, run_write_fn *fn, void *arg, struct err *err)
{
    char data[CHUNK];
    ssize_t n = read(*fd, data, sizeof data);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_fd(fd);
    if (n <= 0)
        return 0;
    r->res->received += (uint64_t)n;
    r->moved_ns = clock_mono_ns();
    if (fn)
        return fn(arg, data, (size_t)n, err);
    if (fd == &r->err)
        run_keep_tail(r->res->stderr_text, &r->res->stderr_len, RUN_STDERR_MAX, data, (size_t)n);
    return 0;
}

static int check_limits(struct running *r, struct err *err)
{
    const struct run *run = r->run;
    int64_t now = clock_mono_ns();
    if (run->on_wait)
        run->on_wait(run->on_wait_arg);
    const volatile sig_atomic_t *interrupted = run->interrupted ? run->interrupted : heeded;
    if (interrupted && *interrupted) {
        r->res->stop = RUN_INTERRUPT;
        return err_set(err, ERR_INTERRUPTED, "interrupted");
    }
    if (r->deadline_ns && now >= r->deadline_ns) {
        r->res->stop = RUN_DEADLINE;
        return err_set(err, ERR_STORAGE, "%s: did not finish within %g s", run->argv[0], run->deadline_s);
    }
    if (run->stall_s > 0 && (double)(now - r->moved_ns) >= run->stall_s * 1e9) {
        r->res->stop = RUN_STALL;
        return err_set(err, ERR_STORAGE, "%s: no data for %g s", run->argv[0], run->stall_s);
    }
    return 0;
}

static int poll_ms(const struct running *r)
{
    int left = clock_left_ms(r->deadline_ns);
    return left < 0 || left > POLL_MS_MAX ? POLL_MS_MAX : left;
}

static void reap(struct running *r)
{
    if (waitpid(r->pid, &r->status, WNOHANG) != r->pid)
        return;
    r->exited = true;
    close_fd(&r->pidfd);
    close_fd(&r->in);
}

/* Polls once and handles every descriptor that is ready. */
static int poll_once(struct running *r, struct err *err)
{
    const struct run *run = r->run;
    struct pollfd fds[] = {
        {.fd = r->in, .events = POLLOUT},
        {.fd = r->out, .events = POLLIN},
        {.fd = r->err, .events = POLLIN},
        {.fd = r->pidfd, .events = POLLIN},
    };
    int n = poll(fds, 4, poll_ms(r));
    if (n < 0 && errno != EINTR)
        return err_set_errno(err, ERR_INTERNAL, errno, "poll");
    if (check_limits(r, err) != 0)
        return -1;
    if (n <= 0)
        return 0;
    if (fds[0].revents && send_input(r, err) != 0)
        return -1;
    if (fds[1].revents && read_output(r, &r->out, run->on_stdout, run->on_stdout_arg, err) != 0)
        return -1;
    if (fds[2].revents && read_output(r, &r->err, run->on_stderr, run->on_stderr_arg, err) != 0)
        return -1;
    if (fds[3].revents)
        reap(r);
    return 0;
}

/* Sends TERM, then KILL after the grace, to the program and its group. */
static void end_program(struct running *r)
{
    if (r->run->grace_s > 0 && r->pidfd >= 0) {
        struct pollfd p = {.fd = r->pidfd, .events = POLLIN};
        int64_t until = clock_deadline_ns(r->run->grace_s);
        kill(-r->pid, SIGTERM);
        while (poll(&p, 1, clock_left_ms(until)) < 0 && errno == EINTR)
            continue;
    }
    spawn_kill(r->pid);
}

static void close_all(struct running *r)
{
    if (r->pid > 0 && !r->exited)
        end_program(r);
    else if (r->pid > 0 && r->run->end_group)
        kill(-r->pid, SIGKILL);
    close_fd(&r->pidfd);
    close_fd(&r->in);
    close_fd(&r->out);
    close_fd(&r->err);
}

static void set_status(const struct running *r)
{
    struct run_result *res = r->res;
    res->exited = WIFEXITED(r->status);
    if (res->exited) {
        res->exit_code = WEXITSTATUS(r->status);
        return;
    }
    const char *name = sigabbrev_np(WTERMSIG(r->status));
    snprintf(res->signal, sizeof res->signal, "%s", name ? name : "?");
}

/* A program that closes its input must not kill us: SIGPIPE is blocked in this thread, and a pending one that
 * we caused is consumed. */
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

static int run_to_end(const struct run *run, struct run_result *res, struct err *err)
{
    struct running r = {.run = run, .res = res, .pidfd = -1, .in = -1, .out = -1, .err = -1};
    sigset_t mask;
    bool pending;
    *res = (struct run_result){.exited = false};
    r.at = run->input;
    r.left = run->read || !run->input ? 0 : run->input_len;
    r.deadline_ns = run->deadline_s > 0 ? clock_deadline_ns(run->deadline_s) : 0;
    r.moved_ns = clock_mono_ns();
    hold_sigpipe(&mask, &pending);
    int rc = start_program(&r, err);
    while (rc == 0 && (!r.exited || r.out >= 0 || r.err >= 0))
        rc = poll_once(&r, err);
    if (rc == 0)
        set_status(&r);
    else if (res->stop == RUN_NOT_STOPPED)
        res->stop = RUN_FAULT;
    close_all(&r);
    release_sigpipe(&mask, pending);
    return rc;
}

int run_program(const struct run *run, struct run_result *res, struct err *err)
{
    struct err failure = {0};
    struct trace_event trace = trace_begin("program", NULL, run->argv);
    int rc = run_to_end(run, res, &failure);
    if (rc != 0 && err)
        *err = failure;
    trace.name_only = run->secret_argv;
    trace.failure = rc != 0 ? &failure : NULL;
    trace.signal = res->signal[0] ? res->signal : NULL;
    trace.exit_code = res->exit_code;
    trace.sent = res->sent;
    trace.received = res->received;
    if (!run->untraced)
        trace_end(&trace);
    return rc;
}

int run_capture(const char *const *argv, const struct buf *input, double deadline_s, struct buf *out,
                struct run_result *res, struct err *err)
{
    const struct run run = {.argv = argv,
                            .input = input ? input->data : NULL,
                            .input_len = input ? input->len : 0,
                            .on_stdout = out ? run_collect : NULL,
                            .on_stdout_arg = out,
                            .deadline_s = deadline_s};
    return run_program(&run, res, err);
}

int run_expect_success(const struct run_result *res, const char *what, struct err *err)
{
    if (res->exited && res->exit_code == 0)
        return 0;
    size_t len = res->stderr_len;
    while (len > 0 && (res->stderr_text[len - 1] == '\n' || res->stderr_text[len - 1] == '\r'))
        len--;
    size_t cut = len > STDERR_QUOTE_MAX ? len - STDERR_QUOTE_MAX : 0;
    char said[4 * STDERR_QUOTE_MAX + 1];
    text_printable_fixed(said, sizeof said, res->stderr_text + cut, len - cut);
    const char *colon = *said ? ": " : "";
    if (res->exited)
        return err_set(err, ERR_STORAGE, "%s failed with exit code %d%s%s", what, res->exit_code, colon,
                       said);
    return err_set(err, ERR_STORAGE, "%s was killed by signal %s%s%s", what,
                   res->signal[0] ? res->signal : "(unknown)", colon, said);
}

int run_collect(void *arg, const char *data, size_t len, struct err *err)
{
    struct buf *out = arg;
    buf_add(out, data, len);
    return buf_ok(out) ? 0 : err_set(err, ERR_STORAGE, "more than %zu bytes of output", out->max);
}
