#include "executor/process/ending.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

void reason_vset(char *out, const char *fmt, va_list ap)
{
    vsnprintf(out, REASON_MAX, fmt, ap);
    for (; *out; out++) {
        if (*out < ' ' || *out > '~')
            *out = '?';
    }
}

void reason_set(char *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    reason_vset(out, fmt, ap);
    va_end(ap);
}

struct assessment assess(enum status status, const char *fmt, ...)
{
    struct assessment a = {.status = status};
    va_list ap;
    va_start(ap, fmt);
    reason_vset(a.reason, fmt, ap);
    va_end(ap);
    return a;
}

static struct assessment assess_stopped(const struct ending *e)
{
    switch (e->stop) {
    case STOP_CANCEL:
        return assess(STATUS_CANCELLED, "cancelled by the user");
    case STOP_TIMEOUT:
        return assess(STATUS_TIMEOUT, "still running after its time-out of %g s", e->timeout_s);
    case STOP_HANG:
        return assess(STATUS_HANG, "busy on the CPU with the GPU idle, no output and no growth for %g s",
                      e->hang_after_s);
    case STOP_NO_OUTPUT:
        return assess(STATUS_HANG, "no output for %g s", e->no_output_timeout_s);
    case STOP_NONE:
        break;
    }
    return assess(STATUS_OK, "%s", "");
}

static struct assessment assess_signal(const struct ending *e)
{
    if (e->oom_evidence)
        return assess(STATUS_OOM, "killed by the OOM killer: %s", e->oom_evidence);
    const char *name = sigabbrev_np(e->signal);
    const char *text = sigdescr_np(e->signal);
    return assess(STATUS_CRASH, "killed by signal %d (SIG%s, %s)", e->signal, name ? name : "?",
                  text ? text : "?");
}

/* A shell reports a child that died by signal N as exit code 128 + N. */
static struct assessment assess_exit_code(const struct ending *e)
{
    if (e->exit_code == 137 && e->oom_evidence)
        return assess(STATUS_OOM, "exit code 137, killed by the OOM killer: %s", e->oom_evidence);
    const char *name = e->exit_code > 128 ? sigabbrev_np(e->exit_code - 128) : NULL;
    if (name)
        return assess(STATUS_FAIL, "exit code %d (in a shell: SIG%s)", e->exit_code, name);
    return assess(STATUS_FAIL, "exit code %d", e->exit_code);
}

struct assessment assess_ending(const struct ending *e)
{
    if (e->exec_errno)
        return assess(STATUS_FAIL, "cannot start %.200s: %s", e->program, strerror(e->exec_errno));
    if (e->stop != STOP_NONE)
        return assess_stopped(e);
    if (e->signal)
        return assess_signal(e);
    if (e->exit_code != 0)
        return assess_exit_code(e);
    return assess(STATUS_OK, "%s", "");
}
