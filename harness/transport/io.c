#include "harness/transport/io.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/run.h"
#include "common/base/text.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LABEL_MAX = 120 };

static const int64_t ns_per_s = 1000000000;

bool transport_interrupted(const struct transport_scope *scope)
{
    return scope->interrupted && *scope->interrupted;
}

const char *transport_home_folder(void)
{
    const char *home = getenv("HOME");
    if (home && *home)
        return home;
    const struct passwd *pw = getpwuid(getuid());
    return pw ? pw->pw_dir : "/";
}

int transport_poll_ms(int64_t deadline_ns)
{
    int left = clock_left_ms(deadline_ns);
    return left < 0 || left > TRANSPORT_POLL_MS_MAX ? TRANSPORT_POLL_MS_MAX : left;
}

void transport_io_begin(struct transport_io *io, const struct transport_cmd *cmd,
                        struct transport_result *res, const struct transport_scope *scope)
{
    memset(res, 0, sizeof *res);
    *io = (struct transport_io){
        .cmd = cmd,
        .res = res,
        .scope = scope,
        .deadline_ns = cmd->deadline_s > 0 ? clock_deadline_ns(cmd->deadline_s) : 0,
        .moved_ns = clock_mono_ns(),
    };
    io->window_ns = io->moved_ns;
    if (!cmd->read) {
        io->in = cmd->input;
        io->in_len = cmd->input ? cmd->input_len : 0;
        io->in_end = true;
    }
}

void transport_io_end(struct transport_io *io)
{
    free(io->buf);
    io->buf = NULL;
    io->in = NULL;
    io->in_len = 0;
}

int transport_io_fill(struct transport_io *io, struct err *err)
{
    if (io->in_len > 0 || io->in_end)
        return 0;
    if (!io->buf)
        io->buf = xmalloc(TRANSPORT_IO_CHUNK);
    ssize_t n = io->cmd->read(io->cmd->read_arg, io->buf, TRANSPORT_IO_CHUNK, err);
    if (n < 0)
        return -1;
    io->in = io->buf;
    io->in_len = (size_t)n;
    io->in_end = n == 0;
    return 0;
}

static void note_progress(struct transport_io *io, size_t len)
{
    io->moved_ns = clock_mono_ns();
    io->told = false;
    io->window_bytes += len;
    if (io->cmd->stall_s <= 0 || (double)(io->moved_ns - io->window_ns) < io->cmd->stall_s * (double)ns_per_s)
        return;
    io->trickles = io->trickles || io->window_bytes < io->cmd->least_bytes;
    io->window_ns = io->moved_ns;
    io->window_bytes = 0;
}

static void note_received(struct transport_io *io, size_t len)
{
    note_progress(io, len);
    io->res->bytes_received += len;
    if (io->scope->last_heard_s)
        *io->scope->last_heard_s = clock_mono_s();
}

void transport_io_sent(struct transport_io *io, size_t n)
{
    io->in += n;
    io->in_len -= n;
    io->res->bytes_sent += n;
    note_progress(io, n);
}

void transport_io_drop_input(struct transport_io *io)
{
    io->in_len = 0;
    io->in_end = true;
}

int transport_io_stdout(struct transport_io *io, const char *data, size_t len, struct err *err)
{
    note_received(io, len);
    if (io->trickles)
        return transport_io_fail_stalled(io, err);
    return io->cmd->on_stdout ? io->cmd->on_stdout(io->cmd->on_stdout_arg, data, len, err) : 0;
}

int transport_io_stderr(struct transport_io *io, const char *data, size_t len, struct err *err)
{
    note_received(io, len);
    if (io->cmd->on_stderr)
        return io->cmd->on_stderr(io->cmd->on_stderr_arg, data, len, err);
    run_keep_tail(io->res->stderr_text, &io->res->stderr_len, TRANSPORT_STDERR_MAX, data, len);
    return 0;
}

static int64_t stall_ns(const struct transport_io *io)
{
    if (io->cmd->stall_s <= 0)
        return 0;
    return io->moved_ns + (int64_t)(io->cmd->stall_s * (double)ns_per_s);
}

int transport_io_fail_late(const struct transport_io *io, struct err *err)
{
    AUTO(buf_release) struct buf words = {.max = 1 << 20};
    text_shell_join(&words, io->cmd->argv);
    io->res->timed_out = true;
    return err_set(err, ERR_NODE, "%s: not done within %g s: %.*s", io->scope->who, io->cmd->deadline_s,
                   LABEL_MAX, buf_str(&words));
}

int transport_io_fail_stalled(const struct transport_io *io, struct err *err)
{
    io->res->link_lost = true;
    if (io->trickles)
        return err_set(err, ERR_NODE, "%s: connection lost: fewer than %llu bytes moved in %g s",
                       io->scope->who, (unsigned long long)io->cmd->least_bytes, io->cmd->stall_s);
    return err_set(err, ERR_NODE, "%s: connection lost: nothing moved for %g s", io->scope->who,
                   io->cmd->stall_s);
}

void transport_io_tell(struct transport_io *io)
{
    double quiet_s = (double)(clock_mono_ns() - io->moved_ns) / (double)ns_per_s;
    double limit_s = io->cmd->stall_s > 0 ? io->cmd->stall_s : io->cmd->deadline_s;
    char line[ERR_MSG_MAX];
    if (io->told || !io->scope->notice || quiet_s < TRANSPORT_QUIET_S || limit_s < 2 * TRANSPORT_QUIET_S)
        return;
    io->told = true;
    snprintf(line, sizeof line,
             "%s has been silent for %.0f s: is it overloaded or stopped? Waiting up to %.0f s; Ctrl-C stops "
             "waiting",
             io->scope->who, quiet_s, limit_s);
    io->scope->notice(io->scope->notice_arg, line);
}

int transport_io_check(struct transport_io *io, struct err *err)
{
    if (transport_interrupted(io->scope))
        return err_set(err, ERR_INTERRUPTED, "interrupted");
    transport_io_tell(io);
    int64_t now = clock_mono_ns();
    if (io->deadline_ns && now >= io->deadline_ns)
        return transport_io_fail_late(io, err);
    return io->trickles || (stall_ns(io) && now >= stall_ns(io)) ? transport_io_fail_stalled(io, err) : 0;
}

int transport_io_poll_ms(const struct transport_io *io)
{
    int deadline = transport_poll_ms(io->deadline_ns);
    int stall = transport_poll_ms(stall_ns(io));
    return deadline < stall ? deadline : stall;
}

int transport_command_text(struct buf *out, const char *const *argv, const struct transport_scope *scope,
                           struct err *err)
{
    buf_puts(out, "cd; "); /* a login script may have changed the folder */
    text_shell_join(out, argv);
    return buf_ok(out) ? 0
                       : err_set(err, ERR_INPUT, "%s: a command longer than %d bytes cannot be sent",
                                 scope->who, TRANSPORT_COMMAND_MAX);
}

int transport_collect(void *arg, const char *data, size_t len, struct err *err)
{
    struct buf *out = arg;
    buf_add(out, data, len);
    return buf_ok(out) ? 0 : err_set(err, ERR_NODE, "more than %zu bytes of output", out->max);
}
