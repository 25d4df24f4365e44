#include "harness/transport/child.h"

#include "common/base/run.h"

#include <string.h>

static int on_stdout_data(void *arg, const char *data, size_t len, struct err *err)
{
    return transport_io_stdout(arg, data, len, err);
}

static int on_stderr_data(void *arg, const char *data, size_t len, struct err *err)
{
    return transport_io_stderr(arg, data, len, err);
}

static void on_wait(void *arg)
{
    transport_io_tell(arg);
}

/* Replaces the message of run by one about the transport. */
static void explain_stop(const struct transport_io *io, enum run_stop stop, struct err *err)
{
    switch (stop) {
    case RUN_DEADLINE:
        transport_io_fail_late(io, err);
        break;
    case RUN_STALL:
        transport_io_fail_stalled(io, err);
        break;
    case RUN_NOT_STOPPED:
    case RUN_INTERRUPT:
    case RUN_FAULT:
        break;
    }
}

static int run_child(const struct transport_cmd *cmd, const char *cwd, bool untraced,
                     const struct transport_scope *scope, struct transport_result *res, struct err *err)
{
    struct transport_io io;
    struct run_result ended;
    transport_io_begin(&io, cmd, res, scope);
    const struct run run = {.argv = cmd->argv,
                            .cwd = cwd,
                            .untraced = untraced,
                            .input = cmd->input,
                            .input_len = cmd->input_len,
                            .read = cmd->read,
                            .read_arg = cmd->read_arg,
                            .on_stdout = on_stdout_data,
                            .on_stdout_arg = &io,
                            .on_stderr = on_stderr_data,
                            .on_stderr_arg = &io,
                            .deadline_s = cmd->deadline_s,
                            .stall_s = cmd->stall_s,
                            .interrupted = scope->interrupted,
                            .on_wait = on_wait,
                            .on_wait_arg = &io};
    int rc = run_program(&run, &ended, err);
    res->bytes_sent = ended.sent;
    res->exited = ended.exited;
    res->exit_code = ended.exit_code;
    memcpy(res->signal, ended.signal, sizeof res->signal);
    explain_stop(&io, ended.stop, err);
    transport_io_end(&io);
    return rc;
}

int transport_child_run(const struct transport_cmd *cmd, const char *cwd, const struct transport_scope *scope,
                        struct transport_result *res, struct err *err)
{
    return run_child(cmd, cwd, true, scope, res, err);
}

int transport_child_capture(const char *const *argv, double deadline_s, const struct transport_scope *scope,
                            struct buf *out, struct transport_result *res, struct err *err)
{
    struct transport_cmd cmd = {
        .argv = argv, .on_stdout = transport_collect, .on_stdout_arg = out, .deadline_s = deadline_s};
    return run_child(&cmd, NULL, false, scope, res, err);
}
