#include "harness/transport/transport.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/base/trace.h"
#include "harness/transport/backend.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const double first_delay_s = 0.5;
static const double longest_delay_s = 8.0;

enum { STDERR_QUOTE_MAX = 400 };

void transport_notice(const struct transport *t, const char *fmt, ...)
{
    if (!t->target.notice)
        return;
    char line[ERR_MSG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    t->target.notice(t->target.notice_arg, line);
}

/* Adds up to a third of jitter, so that many harnesses do not reconnect at the same time. */
static double jittered(double delay_s)
{
    unsigned char r = 0;
    if (getrandom(&r, 1, GRND_NONBLOCK) != 1)
        r = 128;
    return delay_s * (1.0 + (r / 255.0 - 0.5) * 2.0 / 3.0);
}

static int pause_for(const struct transport_scope *scope, double seconds, struct err *err)
{
    int64_t until = clock_deadline_ns(seconds);
    while (clock_left_ms(until) > 0) {
        if (transport_interrupted(scope))
            return err_set(err, ERR_INTERRUPTED, "interrupted while waiting to retry");
        poll(NULL, 0, transport_poll_ms(until));
    }
    return 0;
}

static bool is_available(const struct transport_ops *ops)
{
    return !ops->available || ops->available();
}

/* Index of the first available back-end from `from` on, or TRANSPORT_BACKENDS_MAX. */
static size_t next_available(const struct transport_target *target, size_t from)
{
    for (size_t i = from; i < TRANSPORT_BACKENDS_MAX && target->backends[i]; i++)
        if (is_available(target->backends[i]))
            return i;
    return TRANSPORT_BACKENDS_MAX;
}

static int prepare_backend(struct transport *t, size_t index, struct err *err)
{
    t->backend = index;
    t->ops = t->target.backends[index];
    return t->ops->prepare ? t->ops->prepare(t, err) : 0;
}

static int choose_backend(struct transport *t, struct err *err)
{
    const struct transport_ops *first = t->target.backends[0];
    size_t i = next_available(&t->target, 0);
    if (!first)
        return err_set(err, ERR_INTERNAL, "%s: no transport was given to reach it", t->target.node);
    if (i == TRANSPORT_BACKENDS_MAX)
        return err_set(err, ERR_INPUT, "the %s transport needs %s", first->name, first->needs);
    return prepare_backend(t, i, err);
}

/* Switches to the next back-end, which may support what this one does not (key types of an old libssh2). 1
 * when there is one, 0 when there is none. */
static int fall_back(struct transport *t, const struct err *failure, struct err *err)
{
    size_t next = next_available(&t->target, t->backend + 1);
    if (next == TRANSPORT_BACKENDS_MAX)
        return 0;
    transport_notice(t, "%s; trying %s instead", failure->msg, t->target.backends[next]->name);
    t->ops->disconnect(t);
    t->ops->release(t);
    return prepare_backend(t, next, err) == 0 ? 1 : -1;
}

static int connect_once(struct transport *t, enum transport_failure *why, struct err *err)
{
    struct trace_event trace = trace_begin("connect", t->describe, NULL);
    int rc = t->ops->connect(t, clock_deadline_ns(t->target.connect_timeout_s), why, err);
    trace.how = t->ops->name;
    trace.failure = rc != 0 ? err : NULL;
    trace_end(&trace);
    return rc;
}

/* Retries connection failures for up to patience_s. */
static int connect_patiently(struct transport *t, struct err *err)
{
    double began_s = clock_mono_s();
    double delay_s = first_delay_s;
    for (int attempt = 1;; attempt++) {
        struct err failure = {0};
        enum transport_failure why = TRANSPORT_FAILURE_CONNECTION;
        if (connect_once(t, &why, &failure) == 0)
            return 0;
        if (why == TRANSPORT_FAILURE_UNSUPPORTED && failure.kind == ERR_NODE) {
            int other = fall_back(t, &failure, err);
            if (other < 0)
                return -1;
            if (other > 0)
                continue;
        }
        double wait_s = jittered(delay_s);
        double left_s = began_s + t->target.patience_s - clock_mono_s();
        if (failure.kind != ERR_NODE || why != TRANSPORT_FAILURE_CONNECTION || left_s < wait_s) {
            if (err)
                *err = failure;
            return attempt > 1 && failure.kind == ERR_NODE
                       ? err_wrap(err, "gave up after %d attempts in %.0f s", attempt,
                                  clock_mono_s() - began_s)
                       : -1;
        }
        transport_notice(t, "%s; retrying in %.1f s (for another %.0f s)", failure.msg, wait_s, left_s);
        if (pause_for(&t->scope, wait_s, err))
            return -1;
        delay_s = delay_s * 2 < longest_delay_s ? delay_s * 2 : longest_delay_s;
    }
}

static void copy_target(struct transport *t, const struct transport_target *target)
{
    t->target = *target;
    t->target.node = t->node = xstrdup(target->node);
    t->target.ssh_config = t->ssh_config = target->ssh_config ? xstrdup(target->ssh_config) : NULL;
    if (t->target.connect_timeout_s <= 0)
        t->target.connect_timeout_s = TRANSPORT_CONNECT_TIMEOUT_S;
    t->scope = (struct transport_scope){.who = t->describe,
                                        .interrupted = target->interrupted,
                                        .last_heard_s = &t->last_heard_s,
                                        .notice = target->notice,
                                        .notice_arg = target->notice_arg};
    snprintf(t->describe, sizeof t->describe, "%s", target->node);
}

int transport_open(struct transport **out, const struct transport_target *target, struct err *err)
{
    struct transport *t = xcalloc(1, sizeof *t);
    copy_target(t, target);
    if (choose_backend(t, err) || connect_patiently(t, err)) {
        transport_close(t);
        return -1;
    }
    *out = t;
    return 0;
}

void transport_close(struct transport *t)
{
    if (!t)
        return;
    if (t->ops) {
        t->ops->disconnect(t);
        t->ops->release(t);
    }
    free(t->node);
    free(t->ssh_config);
    free(t);
}

int transport_reconnect(struct transport *t, struct err *err)
{
    t->ops->disconnect(t);
    return connect_patiently(t, err);
}

static int exec_traced(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                       struct err *err)
{
    struct err failure = {0};
    struct trace_event trace = trace_begin("exec", t->describe, cmd->argv);
    int rc = t->ops->exec(t, cmd, res, &failure);
    if (rc != 0 && err)
        *err = failure;
    trace.how = t->ops->name;
    trace.failure = rc != 0 ? &failure : NULL;
    trace.signal = res->signal[0] ? res->signal : NULL;
    trace.exit_code = res->exit_code;
    trace.sent = res->bytes_sent;
    trace.received = res->bytes_received;
    trace_end(&trace);
    return rc;
}

int transport_exec(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                   struct err *err)
{
    memset(res, 0, sizeof *res);
    if (!cmd->argv || !cmd->argv[0])
        return err_set(err, ERR_INTERNAL, "a command without words");
    if (!t->connected && transport_reconnect(t, err)) {
        res->link_lost = true;
        return -1;
    }
    return exec_traced(t, cmd, res, err);
}

int transport_capture(struct transport *t, const char *const *argv, double deadline_s, struct buf *out,
                      struct transport_result *res, struct err *err)
{
    struct transport_cmd cmd = {
        .argv = argv, .on_stdout = transport_collect, .on_stdout_arg = out, .deadline_s = deadline_s};
    if (transport_exec(t, &cmd, res, err) == 0)
        return 0;
    return buf_ok(out) ? -1 : err_wrap(err, "%s: %s", transport_describe(t), argv[0]);
}

int transport_expect_success(const struct transport *t, const struct transport_result *res, const char *what,
                             struct err *err)
{
    if (res->exited && res->exit_code == 0)
        return 0;
    size_t len = res->stderr_len;
    while (len > 0 && (res->stderr_text[len - 1] == '\n' || res->stderr_text[len - 1] == '\r'))
        len--;
    size_t cut = len > STDERR_QUOTE_MAX ? len - STDERR_QUOTE_MAX : 0;
    AUTO(buf_release) struct buf said = {.max = 4096};
    text_printable(&said, res->stderr_text + cut, len - cut, sizeof res->stderr_text);
    const char *colon = said.len ? ": " : "";
    if (res->exited)
        return err_set(err, ERR_NODE, "%s: %s failed with exit code %d%s%s", transport_describe(t), what,
                       res->exit_code, colon, buf_str(&said));
    return err_set(err, ERR_NODE, "%s: %s was killed by signal %s%s%s", transport_describe(t), what,
                   res->signal[0] ? res->signal : "(unknown)", colon, buf_str(&said));
}

ssize_t transport_read_fd(void *arg, void *buf, size_t cap, struct err *err)
{
    for (;;) {
        ssize_t n = read(*(int *)arg, buf, cap);
        if (n >= 0)
            return n;
        if (errno != EINTR)
            return err_set_errno(err, ERR_STORAGE, errno, "cannot read what is to be sent");
    }
}

const char *transport_describe(const struct transport *t)
{
    return t->describe;
}

const char *transport_backend_name(const struct transport *t)
{
    return t->ops->name;
}

const char *transport_fingerprint(const struct transport *t)
{
    return t->fingerprint;
}
