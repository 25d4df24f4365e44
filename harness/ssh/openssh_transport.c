#include "harness/ssh/openssh_transport.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/spawn.h"
#include "common/base/strvec.h"
#include "harness/ssh/openssh_client.h"
#include "harness/transport/backend.h"
#include "harness/transport/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* ssh's exit code is 255 for a lost link, for a command killed by a signal, and for a command that exited
 * with 255. Therefore a shell runs the command and prints its status as the last line of standard error,
 * after a random mark that the command cannot guess. */
static const char wrapper[] = "mark=$1; shift; \"$@\"; printf '\\n%s %d\\n' \"$mark\" \"$?\" >&2";

enum {
    MARK_LEN = 32,
    STATUS_LINE_MAX = 1 + MARK_LEN + 1 + 3 + 1, /* newline, mark, space, 0..255, newline */
    SSH_FAILED = 255,
    SHELL_SIGNAL = 128, /* added to a signal number by the shell */
    MASTER_NOTICE_MS = 500,
};

struct openssh_impl {
    struct ssh_config config;
    struct openssh_master master;
};

static struct openssh_master *master_of(const struct transport *t)
{
    struct openssh_impl *impl = t->impl;
    return &impl->master;
}

static bool openssh_available(void)
{
    return spawn_on_path("ssh");
}

static int openssh_prepare(struct transport *t, struct err *err)
{
    struct openssh_impl *impl = xcalloc(1, sizeof *impl);
    t->impl = impl;
    impl->master = (struct openssh_master){.fd = -1, .config = &impl->config, .scope = &t->scope};
    if (ssh_config_resolve(&impl->config, t->target.node, t->target.ssh_config, &t->scope, err) != 0)
        return -1;
    ssh_config_describe(&impl->config, t->describe, sizeof t->describe);
    return 0;
}

static int openssh_connect(struct transport *t, int64_t deadline_ns, enum transport_failure *why,
                           struct err *err)
{
    struct openssh_master *m = master_of(t);
    if (openssh_master_start(m, deadline_ns, why, err)) {
        openssh_master_stop(m);
        return -1;
    }
    openssh_master_fingerprint(m, t->fingerprint);
    t->connected = true;
    t->last_heard_s = clock_mono_s();
    return 0;
}

static void openssh_disconnect(struct transport *t)
{
    t->connected = false;
    if (t->impl)
        openssh_master_stop(master_of(t));
}

static void openssh_release(struct transport *t)
{
    struct openssh_impl *impl = t->impl;
    if (!impl)
        return;
    ssh_config_release(&impl->config);
    free(impl);
    t->impl = NULL;
}

/* The end of a command's standard error, held back because it may be the status line. */
struct tail {
    const struct transport_cmd *cmd;
    struct transport_io *io; /* receives stderr without the status line */
    char mark[MARK_LEN + 1];
    char held[STATUS_LINE_MAX];
    size_t len;
    uint64_t raw; /* bytes received, including the status line */
};

static int make_mark(struct tail *tail, struct err *err)
{
    unsigned char r[MARK_LEN / 2];
    if (getrandom(r, sizeof r, 0) != sizeof r)
        return err_set(err, ERR_INTERNAL, "no random bytes");
    for (size_t i = 0; i < sizeof r; i++)
        snprintf(tail->mark + 2 * i, 3, "%02x", r[i]);
    return 0;
}

/* Passes on all but the last STATUS_LINE_MAX bytes. */
static int hold_back(void *arg, const char *data, size_t len, struct err *err)
{
    struct tail *tail = arg;
    tail->raw += len;
    size_t out = tail->len + len > sizeof tail->held ? tail->len + len - sizeof tail->held : 0;
    size_t from_held = out < tail->len ? out : tail->len;
    size_t from_data = out - from_held;
    if (from_held && transport_io_stderr(tail->io, tail->held, from_held, err))
        return -1;
    if (from_data && transport_io_stderr(tail->io, data, from_data, err))
        return -1;
    memmove(tail->held, tail->held + from_held, tail->len - from_held);
    tail->len -= from_held;
    memcpy(tail->held + tail->len, data + from_data, len - from_data);
    tail->len += len - from_data;
    return 0;
}

/* Finds the status line in the held bytes and passes on the bytes before it; *status is -1 if there is none.
 */
static int release_tail(struct tail *tail, int *status, struct err *err)
{
    *status = -1;
    size_t keep = tail->len;
    for (size_t at = 0; at + MARK_LEN + 3 < tail->len && *status < 0; at++) {
        char digits[8] = "", *end;
        if (tail->held[at] != '\n' || memcmp(tail->held + at + 1, tail->mark, MARK_LEN) != 0)
            continue;
        size_t from = at + 1 + MARK_LEN + 1;
        snprintf(digits, sizeof digits, "%.*s", (int)(tail->len - from), tail->held + from);
        long value = strtol(digits, &end, 10);
        if (end == digits || *end != '\n' || value < 0 || value > 255)
            continue;
        *status = (int)value;
        keep = at;
    }
    return keep ? transport_io_stderr(tail->io, tail->held, keep, err) : 0;
}

static int fail_lost(struct transport *t, struct transport_result *res, struct err *err)
{
    AUTO(buf_release) struct buf words = {.max = 4096};
    openssh_master_last_words(master_of(t), &words);
    res->link_lost = true;
    return err_set(err, ERR_NODE, "%s: connection lost: %s", t->describe,
                   words.len ? buf_str(&words) : "ssh ended");
}

static void set_status(struct transport_result *res, int status)
{
    const char *name = status > SHELL_SIGNAL ? sigabbrev_np(status - SHELL_SIGNAL) : NULL;
    if (name) {
        snprintf(res->signal, sizeof res->signal, "%s", name);
        return;
    }
    res->exited = true;
    res->exit_code = status;
}

/* Without a status line, either the connection was lost or the shell was killed together with the command. */
static int set_result(struct transport *t, const struct transport_result *client, int status,
                      struct transport_result *res, struct err *err)
{
    if (status >= 0) {
        set_status(res, status);
        return 0;
    }
    if (!client->exited || client->exit_code == SSH_FAILED)
        return openssh_master_alive(master_of(t), MASTER_NOTICE_MS) ? 0 : fail_lost(t, res, err);
    set_status(res, client->exit_code);
    return 0;
}

/* The client reads no configuration: it only needs the master's socket, and must not connect on its own if
 * the master is gone. */
static int run_client(struct transport *t, const char *command, struct tail *tail,
                      struct transport_result *client, struct err *err)
{
    const struct openssh_master *m = master_of(t);
    char socket_path[TEMPORARY_PATH_MAX + 2];
    snprintf(socket_path, sizeof socket_path, "%s/s", m->folder.path);
    const char *argv[] = {"ssh",
                          "-F",
                          "none",
                          "-S",
                          socket_path,
                          "-oControlMaster=no",
                          "-oProxyCommand=false",
                          "-oBatchMode=yes",
                          "-oLogLevel=ERROR",
                          "-T",
                          "--",
                          "node",
                          command,
                          NULL};
    struct transport_cmd cmd = *tail->cmd;
    cmd.argv = argv;
    cmd.on_stderr = hold_back;
    cmd.on_stderr_arg = tail;
    return transport_child_run(&cmd, NULL, &t->scope, client, err);
}

static int wrap_command(struct buf *command, const struct tail *tail, const struct transport_scope *scope,
                        struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {0};
    strvec_pushl(&argv, "sh", "-c", wrapper, "sh", tail->mark, NULL);
    strvec_push_all(&argv, tail->cmd->argv);
    return transport_command_text(command, strvec_argv(&argv), scope, err);
}

static int openssh_exec(struct transport *t, const struct transport_cmd *cmd, struct transport_result *res,
                        struct err *err)
{
    struct transport_io io;
    struct transport_result client = {0};
    struct tail tail = {.cmd = cmd, .io = &io};
    AUTO(buf_release) struct buf command = {.max = TRANSPORT_COMMAND_MAX - 1};
    int status = -1;
    if (make_mark(&tail, err) || wrap_command(&command, &tail, &t->scope, err))
        return -1;
    transport_io_begin(&io, cmd, res, &t->scope);
    int rc = run_client(t, buf_str(&command), &tail, &client, err);
    if (rc == 0)
        rc = release_tail(&tail, &status, err);
    res->bytes_sent = client.bytes_sent;
    res->bytes_received += client.bytes_received - tail.raw;
    res->link_lost = client.link_lost;
    if (client.timed_out)
        transport_io_fail_late(&io, err);
    if (rc == 0)
        rc = set_result(t, &client, status, res, err);
    if (res->link_lost)
        openssh_disconnect(t);
    transport_io_end(&io);
    return rc;
}

const struct transport_ops openssh_transport_ops = {
    .name = "openssh",
    .needs = "the program ssh: install openssh-client",
    .available = openssh_available,
    .serves = ssh_config_serves,
    .prepare = openssh_prepare,
    .connect = openssh_connect,
    .exec = openssh_exec,
    .disconnect = openssh_disconnect,
    .release = openssh_release,
};
