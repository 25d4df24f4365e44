#include "harness/ssh/channel.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "harness/ssh/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECEIVE_WINDOW = 8 << 20,
    PACKET = 32 << 10,
    READ_SIZE = SSH_INBOX_SIZE, /* several packets: libssh2 asks the socket for more before each read */
    ROUNDS_PER_TURN = 32,       /* calls for one stream before the others are served */
    REFUSAL_PAUSE_MS = 20,
};

static const double open_deadline_s = 30.0;
static const double refusal_patience_s = 3.0;

/* libssh2 has one send slot: a call that returned EAGAIN with bytes half sent must be repeated, with the same
 * arguments, before any other call may send. Reading sends too (window adjustments). */
enum step { STEP_STDOUT, STEP_STDERR, STEP_INPUT, STEP_EOF, STEP_COUNT };

struct exec {
    struct ssh_session *s;
    LIBSSH2_CHANNEL *channel;
    struct transport_io io;
    bool has_slot;
    enum step slot; /* when has_slot */
    bool eof_sent;
    char buf[READ_SIZE];
};

static int fail_lost(struct exec *x, int rc, struct err *err)
{
    char *text = NULL;
    libssh2_session_last_error(x->s->ssh, &text, NULL, 0);
    x->io.res->link_lost = true;
    return err_set(err, ERR_NODE, "%s: connection lost: %s (libssh2 %d)", x->s->scope->who,
                   text && *text ? text : "closed by the node", rc);
}

/* While opening and starting, a refusal is an answer of the node, not a lost connection. */
static int fail_start(struct exec *x, int rc, const char *doing, struct err *err)
{
    if (rc == LIBSSH2_ERROR_CHANNEL_FAILURE || rc == LIBSSH2_ERROR_CHANNEL_REQUEST_DENIED ||
        rc == LIBSSH2_ERROR_REQUEST_DENIED)
        return ssh_session_fail(x->s, rc, doing, err);
    return fail_lost(x, rc, err);
}

static int wait_start(struct exec *x, const char *doing, struct err *err)
{
    if (transport_io_check(&x->io, err))
        return -1;
    if (ssh_session_wait(x->s, doing, err) == 0)
        return 0;
    if (!transport_interrupted(x->s->scope)) {
        x->io.res->link_lost = true;
    }
    return -1;
}

/* 0, or libssh2's error; -1 with err set when waiting failed. */
static int try_open(struct exec *x, bool *waiting_failed, struct err *err)
{
    static const char type[] = "session";
    while (!(x->channel = libssh2_channel_open_ex(x->s->ssh, type, sizeof type - 1, RECEIVE_WINDOW, PACKET,
                                                  NULL, 0))) {
        int rc = libssh2_session_last_errno(x->s->ssh);
        if (rc != LIBSSH2_ERROR_EAGAIN)
            return rc;
        *waiting_failed = wait_start(x, "opening a channel", err) != 0;
        if (*waiting_failed)
            return -1;
    }
    return 0;
}

/* sshd counts a session until it has dealt with its end, so one that allows a single session (MaxSessions 1)
 * may refuse the next one for a moment. */
static int open_channel(struct exec *x, struct err *err)
{
    int64_t refused_until_ns = clock_deadline_ns(refusal_patience_s);
    bool waiting_failed = false;
    x->s->deadline_ns = clock_deadline_ns(open_deadline_s);
    for (;;) {
        int rc = try_open(x, &waiting_failed, err);
        if (rc == 0 || waiting_failed)
            return rc;
        if (rc != LIBSSH2_ERROR_CHANNEL_FAILURE || clock_left_ms(refused_until_ns) == 0)
            return fail_start(x, rc, "opening a channel", err);
        poll(NULL, 0, REFUSAL_PAUSE_MS);
        if (transport_io_check(&x->io, err))
            return -1;
    }
}

static int start_command(struct exec *x, const char *command, struct err *err)
{
    int rc;
    while ((rc = libssh2_channel_exec(x->channel, command)) == LIBSSH2_ERROR_EAGAIN) {
        if (wait_start(x, "starting a command", err))
            return -1;
    }
    return rc == 0 ? 0 : fail_start(x, rc, "starting a command", err);
}

/* Each step returns 1 when data moved, 0 when there is nothing to do, LIBSSH2_ERROR_EAGAIN, or -1 with err.
 * Any other libssh2 error means that the connection is unusable. */
enum { STEP_MOVED = 1, STEP_IDLE = 0, STEP_FAILED = -1 };

static int step_read(struct exec *x, int stream, struct err *err)
{
    ssize_t n = libssh2_channel_read_ex(x->channel, stream, x->buf, sizeof x->buf);
    if (n == LIBSSH2_ERROR_EAGAIN)
        return LIBSSH2_ERROR_EAGAIN;
    if (n < 0)
        return fail_lost(x, (int)n, err);
    if (n == 0)
        return STEP_IDLE;
    int rc = stream ? transport_io_stderr(&x->io, x->buf, (size_t)n, err)
                    : transport_io_stdout(&x->io, x->buf, (size_t)n, err);
    return rc ? STEP_FAILED : STEP_MOVED;
}

/* A command may close its output and go on reading, so only a closed channel shows that input is unwanted.
 */
static bool input_is_unwanted(struct exec *x)
{
    return libssh2_channel_eof(x->channel) == 1 && libssh2_channel_wait_closed(x->channel) == 0;
}

static int step_input(struct exec *x, struct err *err)
{
    if (x->eof_sent)
        return STEP_IDLE;
    if (!x->has_slot && input_is_unwanted(x)) {
        transport_io_drop_input(&x->io);
        x->eof_sent = true;
        return STEP_IDLE;
    }
    if (transport_io_fill(&x->io, err))
        return STEP_FAILED;
    if (x->io.in_len == 0)
        return STEP_IDLE;
    ssize_t n = libssh2_channel_write_ex(x->channel, 0, x->io.in, x->io.in_len);
    if (n == LIBSSH2_ERROR_EAGAIN)
        return LIBSSH2_ERROR_EAGAIN;
    if (n == LIBSSH2_ERROR_CHANNEL_CLOSED || n == LIBSSH2_ERROR_CHANNEL_EOF_SENT) {
        transport_io_drop_input(&x->io);
        return STEP_IDLE;
    }
    if (n < 0)
        return fail_lost(x, (int)n, err);
    transport_io_sent(&x->io, (size_t)n);
    return n > 0 ? STEP_MOVED : LIBSSH2_ERROR_EAGAIN;
}

static int step_eof(struct exec *x, struct err *err)
{
    if (x->eof_sent || !x->io.in_end || x->io.in_len > 0)
        return STEP_IDLE;
    int rc = libssh2_channel_send_eof(x->channel);
    if (rc == LIBSSH2_ERROR_EAGAIN)
        return rc;
    if (rc < 0 && rc != LIBSSH2_ERROR_CHANNEL_CLOSED && rc != LIBSSH2_ERROR_CHANNEL_EOF_SENT)
        return fail_lost(x, rc, err);
    x->eof_sent = true;
    return STEP_MOVED;
}

static int do_step(struct exec *x, enum step step, struct err *err)
{
    switch (step) {
    case STEP_STDOUT:
        return step_read(x, 0, err);
    case STEP_STDERR:
        return step_read(x, SSH_EXTENDED_DATA_STDERR, err);
    case STEP_INPUT:
        return step_input(x, err);
    case STEP_EOF:
        return step_eof(x, err);
    case STEP_COUNT:
        break;
    }
    return STEP_IDLE;
}

/* Runs every step until it has nothing to do; while a step owns the send slot, only that step. 1 when data
 * moved. */
static int run_steps(struct exec *x, struct err *err)
{
    bool moved = false;
    for (int step = 0; step < STEP_COUNT; step++) {
        for (int round = 0; round < ROUNDS_PER_TURN; round++) {
            if (x->has_slot && x->slot != (enum step)step)
                break;
            int rc = do_step(x, (enum step)step, err);
            if (rc == STEP_FAILED)
                return -1;
            x->has_slot = rc == LIBSSH2_ERROR_EAGAIN &&
                          (libssh2_session_block_directions(x->s->ssh) & LIBSSH2_SESSION_BLOCK_OUTBOUND);
            x->slot = (enum step)step;
            if (rc != STEP_MOVED)
                break;
            moved = true;
        }
    }
    return moved;
}

static int wait_for_link(struct exec *x, struct err *err)
{
    struct pollfd p = {.fd = x->s->fd, .events = POLLIN};
    if (x->has_slot)
        p.events |= POLLOUT;
    ssh_socket_acknowledge(x->s->fd);
    if (poll(&p, 1, transport_io_poll_ms(&x->io)) < 0 && errno != EINTR)
        return err_set_errno(err, ERR_INTERNAL, errno, "poll");
    return transport_io_check(&x->io, err);
}

static int transfer(struct exec *x, struct err *err)
{
    for (;;) {
        int moved = run_steps(x, err);
        if (moved < 0 || transport_io_check(&x->io, err))
            return -1;
        if (moved)
            continue;
        if (!x->has_slot && x->eof_sent && libssh2_channel_eof(x->channel) == 1)
            return 0;
        if (wait_for_link(x, err))
            return -1;
    }
}

/* The status is valid only after the node has closed the channel; before that, and on a dead link, it reads
 * as 0. */
static int close_channel(struct exec *x, struct err *err)
{
    int rc;
    while ((rc = libssh2_channel_close(x->channel)) == LIBSSH2_ERROR_EAGAIN) {
        if (wait_for_link(x, err))
            return -1;
    }
    while (rc == 0 && (rc = libssh2_channel_wait_closed(x->channel)) == LIBSSH2_ERROR_EAGAIN) {
        rc = 0;
        if (wait_for_link(x, err))
            return -1;
    }
    if (rc < 0)
        return fail_lost(x, rc, err);
    char *name = NULL;
    size_t len = 0;
    libssh2_channel_get_exit_signal(x->channel, &name, &len, NULL, NULL, NULL, NULL);
    if (name && len) {
        snprintf(x->io.res->signal, sizeof x->io.res->signal, "%.*s", (int)len, name);
        libssh2_free(x->s->ssh, name);
        return 0;
    }
    x->io.res->exited = true;
    x->io.res->exit_code = libssh2_channel_get_exit_status(x->channel);
    return 0;
}

static int run_command(struct exec *x, const char *command, struct err *err)
{
    if (open_channel(x, err) || start_command(x, command, err) || transfer(x, err))
        return -1;
    return close_channel(x, err);
}

int ssh_channel_exec(struct ssh_session *s, const struct transport_cmd *cmd, struct transport_result *res,
                     bool *usable, struct err *err)
{
    AUTO(buf_release) struct buf command = {.max = TRANSPORT_COMMAND_MAX - 1};
    *usable = true;
    if (transport_command_text(&command, cmd->argv, s->scope, err))
        return -1;
    AUTO_FREE struct exec *x = xcalloc(1, sizeof *x);
    x->s = s;
    transport_io_begin(&x->io, cmd, res, s->scope);
    int rc = run_command(x, buf_str(&command), err);
    /* sshd does not close the channel of a running command, so abandoning a command costs the connection. */
    *usable = rc == 0 && libssh2_channel_free(x->channel) == 0;
    transport_io_end(&x->io);
    return rc;
}
