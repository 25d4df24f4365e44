#include "executor/process/child.h"

#include "common/base/alloc.h"
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
/* Less may be a busy hypervisor's doing. */
static const double frozen_least_s = 0.5;
/* This is late enough for exec to be over, and early enough for a short test to be sampled once. */
static const int64_t first_sample_ns = 5000000;
static const double kill_round_s = 0.05; /* between rounds of KILL, for what was forked meanwhile */
static const double exec_limit_s = 30;   /* a start may take */
static const double kill_limit_s = 10;   /* then processes are stuck in the kernel, and the node is dirty */

static bool is_over(const struct child *c)
{
    return c->phase == CHILD_GONE || c->phase == CHILD_STUCK;
}

static int64_t to_ns(double s)
{
    return (int64_t)(s * s_to_ns);
}

static double since_start(const struct child *c, int64_t now_ns)
{
    return (double)(now_ns - c->result.process.start_ns) / s_to_ns;
}

static void close_output(struct child *c)
{
    int fd = c->output.fd;
    loop_remove(c->loop, &c->output);
    if (fd >= 0)
        close(fd);
}

/* Reads at most `reads` blocks, so that a flood of output cannot delay time-outs. */
static void read_output(struct child *c, int reads, int64_t now_ns)
{
    while (c->output.fd >= 0 && reads-- > 0) {
        ssize_t n = read(c->output.fd, c->data, READ_MAX);
        if (n > 0) {
            c->last_output_ns = now_ns;
            if (c->hooks.output)
                c->hooks.output(c->hooks.arg, c->data, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_output(c);
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static void enter_kill(struct child *c, int64_t now_ns)
{
    c->phase = CHILD_KILL;
    c->kill_since_ns = now_ns;
    process_signal_all(&c->result.process, SIGKILL);
    loop_arm(&c->grace, now_ns + to_ns(kill_round_s), to_ns(kill_round_s));
}

static void enter_term(struct child *c, int64_t now_ns)
{
    c->phase = CHILD_TERM;
    unsigned n = process_signal_all(&c->result.process, SIGTERM);
    process_signal_all(&c->result.process, SIGCONT); /* a stopped process would not handle TERM */
    if (c->result.process.ended)
        c->result.leftovers = n;
    if (c->limits->kill_grace_s <= 0)
        enter_kill(c, now_ns);
    else
        loop_arm(&c->grace, now_ns + to_ns(c->limits->kill_grace_s), 0);
}

static void stop_child(struct child *c, enum stop_cause cause, int64_t now_ns)
{
    if (c->phase != CHILD_RUNNING || c->result.process.ended)
        return;
    c->result.stop = cause;
    if (c->hooks.stopping && c->born)
        c->hooks.stopping(c->hooks.arg, &c->result.process, cause);
    enter_term(c, now_ns);
}

static void enter_linger(struct child *c, int64_t now_ns)
{
    c->phase = CHILD_LINGERS;
    loop_arm(&c->grace, now_ns + to_ns(c->limits->linger_s), 0);
}

/* Returns when the process that is being reaped ended: at the turn's time if its end is what woke us. The end
 * of another may have woken us before this one had even started. */
static int64_t end_time(const struct child *c, int64_t now_ns)
{
    return c->process.ready ? now_ns : clock_mono_ns();
}

static void on_grace(struct child *c, int64_t now_ns)
{
    if (c->phase == CHILD_LINGERS)
        enter_term(c, now_ns);
    else if (c->phase == CHILD_TERM)
        enter_kill(c, now_ns);
    else if (c->phase == CHILD_KILL && now_ns - c->kill_since_ns > to_ns(kill_limit_s))
        c->phase = CHILD_STUCK;
    else if (c->phase == CHILD_KILL)
        process_signal_all(&c->result.process, SIGKILL);
    /* No signal tells that a control group became empty. */
    if (process_reap(&c->result.process, end_time(c, now_ns)))
        c->phase = CHILD_GONE;
}

static void arm(struct child *c)
{
    int64_t start = c->result.process.start_ns;
    int64_t sample = c->limits->sample_interval_ms * 1000000;
    int64_t heartbeat = to_ns(c->limits->heartbeat_s);
    loop_arm(&c->deadline, c->limits->timeout_s > 0 ? start + to_ns(c->limits->timeout_s) : 0, 0);
    if (sample > 0)
        loop_arm(&c->sample, start + first_sample_ns, sample);
    if (heartbeat > 0)
        loop_arm(&c->heartbeat, start + heartbeat, heartbeat);
}

/* Until the program is born, only its output and its end count. */
static void await_birth(struct child *c, int64_t now_ns)
{
    if (process_is_born(&c->result.process)) {
        c->born = true;
        loop_remove(c->loop, &c->birth);
        process_forget_birth(&c->result.process);
        if (c->hooks.started)
            c->hooks.started(c->hooks.arg, &c->result.process);
        if (c->phase == CHILD_RUNNING)
            arm(c);
        else if (c->phase == CHILD_TERM) /* it may not have been there when the others were told */
            process_signal_all(&c->result.process, SIGTERM);
        c->deadline.ready = false;
    } else if (c->deadline.ready && c->phase == CHILD_RUNNING) {
        c->result.process.exec_errno = ETIMEDOUT;
        enter_kill(c, now_ns);
    }
}

/* From its second sample on, a child is sampled together with the others. */
static void join_others(struct child *c)
{
    if (!c->limits->samples_together || c->joined)
        return;
    c->joined = loop_join_beat(c->loop, c->limits->sample_interval_ms * 1000000) == 0;
    if (c->joined)
        loop_arm(&c->sample, 0, 0);
}

static void end_samples(struct child *c)
{
    loop_arm(&c->sample, 0, 0);
    if (c->joined)
        loop_leave_beat(c->loop);
    c->joined = false;
}

/* Without its keeper nothing hears TERM or reports an end, while the keeper's closed pipe would be ready all
 * the time. What is left of the group is killed, and looked at again every kill_round_s. */
static void leave_keeper(struct child *c, int64_t now_ns)
{
    loop_remove(c->loop, &c->process);
    if (c->phase != CHILD_KILL)
        enter_kill(c, now_ns);
}

static void on_reap(struct child *c, int64_t now_ns)
{
    struct process *p = &c->result.process;
    bool was_ended = p->ended;
    bool none_left = process_reap(p, end_time(c, now_ns));
    if (p->ended && !c->born) /* it was born since this turn began */
        await_birth(c, now_ns);
    if (p->ended && !was_ended && !p->keeper)
        loop_remove(c->loop, &c->process);
    if (p->ended && !was_ended) {
        end_samples(c);
        loop_arm(&c->deadline, 0, 0);
    }
    if (none_left)
        c->phase = CHILD_GONE;
    else if (process_is_lost(p))
        c->phase = CHILD_STUCK;
    else if (p->gone || p->lost)
        leave_keeper(c, now_ns);
    else if (p->ended && c->phase == CHILD_RUNNING && c->limits->linger_s > 0)
        enter_linger(c, now_ns);
    else if (p->ended && c->phase == CHILD_RUNNING)
        enter_term(c, now_ns);
    else if (c->phase == CHILD_KILL)
        process_signal_all(p, SIGKILL);
}

static void on_sample(struct child *c, uint64_t ticks, int64_t now_ns)
{
    double quiet_s = (double)(now_ns - c->last_output_ns) / s_to_ns;
    enum stop_cause cause = STOP_NONE;
    if (c->hooks.sample)
        cause = c->hooks.sample(c->hooks.arg, since_start(c, now_ns), ticks - 1);
    if (cause == STOP_NONE && c->limits->no_output_timeout_s > 0 && quiet_s >= c->limits->no_output_timeout_s)
        cause = STOP_NO_OUTPUT;
    if (cause != STOP_NONE)
        stop_child(c, cause, now_ns);
}

static void take_sample(struct child *c, int64_t now_ns)
{
    if (c->result.process.ended)
        return;
    if (c->joined && c->loop->beat.ready)
        on_sample(c, c->loop->beat.ticks, now_ns);
    else if (!c->joined && c->sample.ready) {
        on_sample(c, c->sample.ticks, now_ns);
        join_others(c);
    }
}

/* No wait lasts for longer than until the next sample, unless we do not run, and the child neither. */
static void note_frozen(struct child *c)
{
    double late_s = (double)c->loop->slept_ns / s_to_ns - (double)c->limits->sample_interval_ms * 1e-3;
    bool sampled = c->born && c->phase == CHILD_RUNNING && c->limits->sample_interval_ms > 0;
    if (sampled && !c->result.process.ended && late_s >= frozen_least_s)
        c->result.frozen_s += late_s;
}

/* The order matters: an end counts before a time-out of the same moment. */
bool child_turn(struct child *c)
{
    int64_t now_ns = c->loop->now_ns;
    note_frozen(c);
    if (!c->born)
        await_birth(c, now_ns);
    if (c->process.ready || c->loop->signals.ready)
        on_reap(c, now_ns);
    if (c->loop->stop && !c->limits->finishes)
        stop_child(c, STOP_CANCEL, now_ns);
    if (c->output.ready)
        read_output(c, READS_PER_TURN, now_ns);
    if (c->deadline.ready && c->born)
        stop_child(c, STOP_TIMEOUT, now_ns);
    take_sample(c, now_ns);
    if (c->heartbeat.ready && c->hooks.heartbeat) /* also while what it left is being ended */
        c->hooks.heartbeat(c->hooks.arg, since_start(c, now_ns));
    if (c->grace.ready)
        on_grace(c, now_ns);
    return is_over(c);
}

static int watch_all(struct child *c, struct err *err)
{
    struct loop_watch *const timers[] = {&c->deadline, &c->grace, &c->heartbeat, &c->sample};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        if (loop_add_timer(c->loop, timers[i], err) != 0)
            return -1;
    }
    if (loop_add(c->loop, &c->birth, c->result.process.birth, err) != 0)
        return -1;
    return loop_add(c->loop, &c->process, process_watch_fd(&c->result.process), err);
}

/* The loop's watch owns the pipe of its output from here on. */
static int start_process(struct child *c, const struct process_spec *spec, struct err *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot make a pipe");
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES); /* fewer wake-ups for much output; may fail */
    struct process_spec with_output = *spec;
    with_output.output = fds[1];
    int rc = process_start(&c->result.process, &with_output, err);
    close(fds[1]);
    c->last_output_ns = c->result.process.start_ns;
    if (rc == 0 && loop_add(c->loop, &c->output, fds[0], err) == 0)
        return 0;
    close(fds[0]);
    return -1;
}

int child_start(struct child *c, struct loop *loop, const struct process_spec *spec,
                const struct child_limits *limits, const struct child_hooks *hooks, struct err *err)
{
    *c = (struct child){.loop = loop,
                        .data = xmalloc(READ_MAX),
                        .limits = limits,
                        .hooks = *hooks,
                        .result = {.process = PROCESS_NONE, .wall_s = NAN},
                        .process = LOOP_WATCH_NONE,
                        .birth = LOOP_WATCH_NONE,
                        .output = LOOP_WATCH_NONE,
                        .deadline = LOOP_WATCH_NONE,
                        .grace = LOOP_WATCH_NONE,
                        .heartbeat = LOOP_WATCH_NONE,
                        .sample = LOOP_WATCH_NONE};
    if (start_process(c, spec, err) != 0 || watch_all(c, err) != 0)
        return -1;
    loop_arm(&c->deadline, c->result.process.start_ns + to_ns(exec_limit_s), 0);
    return 0;
}

void child_close(struct child *c)
{
    struct loop_watch *const own[] = {&c->deadline, &c->grace,   &c->heartbeat,
                                      &c->sample,   &c->process, &c->birth};
    struct process *p = &c->result.process;
    if (is_over(c))
        read_output(c, DRAIN_READS, clock_mono_ns());
    else if (p->pid > 0 || p->keeper > 0)
        process_signal_all(p, SIGKILL);
    end_samples(c);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        loop_remove(c->loop, own[i]);
    close_output(c);
    process_close(p);
    free(c->data);
    c->data = NULL;
    c->result.group_gone = c->phase == CHILD_GONE;
    if (p->ended && !p->exec_errno)
        c->result.wall_s = (double)(p->end_ns - p->start_ns) / s_to_ns;
}

int child_run(struct loop *loop, const struct process_spec *spec, const struct child_limits *limits,
              const struct child_hooks *hooks, struct child_result *out, struct err *err)
{
    struct child c;
    int rc = child_start(&c, loop, spec, limits, hooks, err);
    bool over = false;
    while (rc == 0 && !over) {
        rc = loop_wait(loop, err);
        over = rc == 0 && child_turn(&c);
    }
    child_close(&c);
    *out = c.result;
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
