#include "executor/process/child.h"

#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_MAX = 256 << 10, READS_PER_TURN = 4, PIPE_BYTES = 1 << 20, DRAIN_READS = 64 };

static const double s_to_ns = 1e9;
/* Late enough for exec to be over, early enough for a short test to be sampled once. */
static const int64_t first_sample_ns = 5000000;
static const double kill_round_s = 0.05; /* between rounds of KILL, for what was forked meanwhile */
static const double kill_limit_s = 10;   /* then processes are stuck in the kernel, and the node is dirty */

enum phase { PHASE_RUNNING, PHASE_TERM, PHASE_KILL, PHASE_GONE, PHASE_STUCK };

struct child {
    struct loop *loop;
    const struct child_limits *limits;
    const struct child_hooks *hooks;
    struct child_result *result;
    enum phase phase;
    int output; /* read end */
    int64_t last_output_ns;
    int64_t kill_since_ns;
    char *data; /* READ_MAX bytes */
};

static int64_t to_ns(double s)
{
    return (int64_t)(s * s_to_ns);
}

static double since_start(const struct child *c, int64_t now_ns)
{
    return (double)(now_ns - c->result->process.start_ns) / s_to_ns;
}

static void close_output(struct child *c)
{
    loop_unwatch(c->loop, LOOP_OUTPUT);
    if (c->output >= 0)
        close(c->output);
    c->output = -1;
}

/* Reads at most `reads` blocks, so that a flood of output cannot delay time-outs. */
static void read_output(struct child *c, int reads, int64_t now_ns)
{
    while (c->output >= 0 && reads-- > 0) {
        ssize_t n = read(c->output, c->data, READ_MAX);
        if (n > 0) {
            c->last_output_ns = now_ns;
            if (c->hooks->output)
                c->hooks->output(c->hooks->arg, c->data, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_output(c);
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static void enter_kill(struct child *c, int64_t now_ns)
{
    c->phase = PHASE_KILL;
    c->kill_since_ns = now_ns;
    process_signal_all(&c->result->process, SIGKILL);
    loop_arm(c->loop, LOOP_GRACE, now_ns + to_ns(kill_round_s), to_ns(kill_round_s));
}

static void enter_term(struct child *c, int64_t now_ns)
{
    c->phase = PHASE_TERM;
    unsigned n = process_signal_all(&c->result->process, SIGTERM);
    process_signal_all(&c->result->process, SIGCONT); /* a stopped process would not handle TERM */
    if (c->result->process.ended)
        c->result->leftovers = n;
    if (c->limits->kill_grace_s <= 0)
        enter_kill(c, now_ns);
    else
        loop_arm(c->loop, LOOP_GRACE, now_ns + to_ns(c->limits->kill_grace_s), 0);
}

static void stop_child(struct child *c, enum stop_cause cause, int64_t now_ns)
{
    if (c->phase != PHASE_RUNNING || c->result->process.ended)
        return;
    c->result->stop = cause;
    if (c->hooks->stopping)
        c->hooks->stopping(c->hooks->arg, &c->result->process, cause);
    enter_term(c, now_ns);
}

static void on_grace(struct child *c, int64_t now_ns)
{
    if (c->phase == PHASE_TERM)
        enter_kill(c, now_ns);
    else if (c->phase == PHASE_KILL && now_ns - c->kill_since_ns > to_ns(kill_limit_s))
        c->phase = PHASE_STUCK;
    else if (c->phase == PHASE_KILL)
        process_signal_all(&c->result->process, SIGKILL);
}

static void on_reap(struct child *c, int64_t now_ns)
{
    struct process *p = &c->result->process;
    bool was_ended = p->ended;
    bool none_left = process_reap(p, now_ns);
    if (p->ended && !was_ended) {
        loop_unwatch(c->loop, LOOP_PROCESS);
        loop_arm(c->loop, LOOP_SAMPLE, 0, 0);
        loop_arm(c->loop, LOOP_HEARTBEAT, 0, 0);
        loop_arm(c->loop, LOOP_DEADLINE, 0, 0);
    }
    if (none_left)
        c->phase = PHASE_GONE;
    else if (p->ended && c->phase == PHASE_RUNNING)
        enter_term(c, now_ns);
    else if (c->phase == PHASE_KILL)
        process_signal_all(p, SIGKILL);
}

static void on_sample(struct child *c, const struct loop_events *e)
{
    double quiet_s = (double)(e->now_ns - c->last_output_ns) / s_to_ns;
    enum stop_cause cause = STOP_NONE;
    if (c->hooks->sample)
        cause = c->hooks->sample(c->hooks->arg, since_start(c, e->now_ns), e->ticks[LOOP_SAMPLE] - 1);
    if (cause == STOP_NONE && c->limits->no_output_timeout_s > 0 && quiet_s >= c->limits->no_output_timeout_s)
        cause = STOP_NO_OUTPUT;
    if (cause != STOP_NONE)
        stop_child(c, cause, e->now_ns);
}

/* The order matters: an end counts before a time-out of the same moment. */
static void handle_events(struct child *c, const struct loop_events *e)
{
    if (e->ready[LOOP_PROCESS] || e->ready[LOOP_SIGNAL])
        on_reap(c, e->now_ns);
    if (c->loop->stop)
        stop_child(c, STOP_CANCEL, e->now_ns);
    if (e->ready[LOOP_OUTPUT])
        read_output(c, READS_PER_TURN, e->now_ns);
    if (e->ready[LOOP_DEADLINE])
        stop_child(c, STOP_TIMEOUT, e->now_ns);
    if (e->ready[LOOP_SAMPLE] && !c->result->process.ended)
        on_sample(c, e);
    if (e->ready[LOOP_HEARTBEAT] && c->hooks->heartbeat && !c->result->process.ended)
        c->hooks->heartbeat(c->hooks->arg, since_start(c, e->now_ns));
    if (e->ready[LOOP_GRACE])
        on_grace(c, e->now_ns);
}

static void arm(struct child *c)
{
    int64_t start = c->result->process.start_ns;
    int64_t sample = c->limits->sample_interval_ms * 1000000;
    int64_t heartbeat = to_ns(c->limits->heartbeat_s);
    if (c->limits->timeout_s > 0)
        loop_arm(c->loop, LOOP_DEADLINE, start + to_ns(c->limits->timeout_s), 0);
    if (sample > 0)
        loop_arm(c->loop, LOOP_SAMPLE, start + first_sample_ns, sample);
    if (heartbeat > 0)
        loop_arm(c->loop, LOOP_HEARTBEAT, start + heartbeat, heartbeat);
}

static void disarm(struct child *c)
{
    for (int t = LOOP_DEADLINE; t < LOOP_TIMERS_END; t++)
        loop_arm(c->loop, (enum loop_source)t, 0, 0);
    loop_unwatch(c->loop, LOOP_PROCESS);
    close_output(c);
}

static int follow_child(struct child *c, struct err *err)
{
    struct loop_events events;
    int rc = loop_watch(c->loop, LOOP_PROCESS, c->result->process.pidfd, err);
    if (rc == 0)
        rc = loop_watch(c->loop, LOOP_OUTPUT, c->output, err);
    if (c->hooks->started)
        c->hooks->started(c->hooks->arg, &c->result->process);
    arm(c);
    while (rc == 0 && c->phase != PHASE_GONE && c->phase != PHASE_STUCK) {
        rc = loop_wait(c->loop, &events, err);
        if (rc == 0)
            handle_events(c, &events);
    }
    if (rc == 0)
        read_output(c, DRAIN_READS, clock_mono_ns());
    return rc;
}

static int start_child(struct child *c, const struct process_spec *spec, struct err *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot make a pipe");
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES); /* fewer wake-ups for much output; may fail */
    struct process_spec with_output = *spec;
    with_output.output = fds[1];
    int rc = process_start(&c->result->process, &with_output, err);
    close(fds[1]);
    c->output = fds[0];
    c->last_output_ns = c->result->process.start_ns;
    return rc;
}

int child_run(struct loop *loop, const struct process_spec *spec, const struct child_limits *limits,
              const struct child_hooks *hooks, struct child_result *out, struct err *err)
{
    *out = (struct child_result){.process = {.pidfd = -1}};
    struct child c = {.loop = loop, .limits = limits, .hooks = hooks, .result = out, .output = -1};
    c.data = malloc(READ_MAX);
    if (!c.data)
        return err_set(err, ERR_INTERNAL, "no memory to read output");
    int rc = start_child(&c, spec, err);
    if (rc == 0)
        rc = follow_child(&c, err);
    if (rc != 0)
        process_signal_all(&out->process, SIGKILL);
    disarm(&c);
    process_close(&out->process);
    free(c.data);
    out->group_gone = c.phase == PHASE_GONE;
    out->wall_s = NAN;
    if (out->process.ended && !out->process.exec_errno)
        out->wall_s = (double)(out->process.end_ns - out->process.start_ns) / s_to_ns;
    return rc;
}

void child_ending(const struct child_result *r, const struct child_limits *limits, const char *program,
                  struct ending *out)
{
    int status = r->process.wait_status;
    bool signalled = r->process.ended && WIFSIGNALED(status);
    *out = (struct ending){
        .exec_errno = r->process.exec_errno,
        .exit_code = r->process.ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1,
        .signal = signalled ? WTERMSIG(status) : 0,
        .stop = r->stop,
        .timeout_s = limits->timeout_s,
        .no_output_timeout_s = limits->no_output_timeout_s,
        .program = program,
    };
}
