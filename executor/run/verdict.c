#include "executor/run/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct verdict verdict(enum status status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put_reason(char *out, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

static void put_reason(char *out, const char *fmt, va_list ap)
{
    vsnprintf(out, VERDICT_REASON_MAX, fmt, ap);
    for (; *out; out++) {
        if (*out < ' ' || *out > '~')
            *out = '?';
    }
}

void reason_set(char *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    put_reason(out, fmt, ap);
    va_end(ap);
}

static struct verdict verdict(enum status status, const char *fmt, ...)
{
    struct verdict v = {.status = status};
    va_list ap;
    va_start(ap, fmt);
    put_reason(v.reason, fmt, ap);
    va_end(ap);
    return v;
}

static struct verdict stopped(const struct outcome *o)
{
    switch (o->stop) {
    case STOP_CANCEL:
        return verdict(STATUS_CANCELLED, "cancelled by the user");
    case STOP_TIMEOUT:
        return verdict(STATUS_TIMEOUT, "still running after its time-out of %g s", o->timeout_s);
    case STOP_HANG:
        return verdict(STATUS_HANG, "busy on the CPU with the GPU idle, no output and no growth for %g s",
                       o->hang_after_s);
    case STOP_NO_OUTPUT:
        return verdict(STATUS_HANG, "no output for %g s", o->no_output_timeout_s);
    case STOP_NONE:
        break;
    }
    return verdict(STATUS_OK, "%s", "");
}

static struct verdict died(const struct outcome *o)
{
    if (o->oom_evidence)
        return verdict(STATUS_OOM, "killed for memory: %s", o->oom_evidence);
    const char *name = sigabbrev_np(o->signal);
    const char *text = sigdescr_np(o->signal);
    return verdict(STATUS_CRASH, "died by signal %d (SIG%s, %s)", o->signal, name ? name : "?",
                   text ? text : "?");
}

/* 128+N is how a shell tells that what it ran died by signal N. */
static struct verdict failed(const struct outcome *o)
{
    if (o->exit_code == 137 && o->oom_evidence)
        return verdict(STATUS_OOM, "exit code 137, killed for memory: %s", o->oom_evidence);
    const char *name = o->exit_code > 128 ? sigabbrev_np(o->exit_code - 128) : NULL;
    if (name)
        return verdict(STATUS_FAIL, "exit code %d (a shell's word for SIG%s)", o->exit_code, name);
    return verdict(STATUS_FAIL, "exit code %d", o->exit_code);
}

struct verdict verdict_of_command(const struct outcome *o)
{
    if (o->exec_errno)
        return verdict(STATUS_FAIL, "cannot start %.200s: %s", o->program, strerror(o->exec_errno));
    if (o->stop != STOP_NONE)
        return stopped(o);
    if (o->signal)
        return died(o);
    if (o->exit_code != 0)
        return failed(o);
    return verdict(STATUS_OK, "%s", "");
}

static struct verdict believe(const struct timings *t, const struct expectation *e)
{
    const double *prefill = timings_get(t, "prefill_s");
    if (t->problem[0])
        return verdict(STATUS_INVALID, "%s", t->problem);
    if (!t->found)
        return verdict(STATUS_INVALID, "exit code 0 but it told no timings");
    if (!prefill)
        return verdict(STATUS_INVALID, "its timings have no prefill_s");
    if (!isfinite(*prefill) || *prefill <= 0)
        return verdict(STATUS_INVALID, "prefill_s is %g: not a duration", *prefill);
    if (t->prompt_tokens < 0 && e->prompt_tokens_required)
        return verdict(STATUS_INVALID, "it did not say how many prompt tokens it saw (\"Prompt tokens: N\")");
    if (t->prompt_tokens >= 0 && t->prompt_tokens != e->context)
        return verdict(STATUS_INVALID, "it saw %" PRId64 " prompt tokens where the context is %" PRId64,
                       t->prompt_tokens, e->context);
    if (e->attn_impl[0] && strcmp(t->attn_impl, e->attn_impl) != 0)
        return verdict(STATUS_INVALID, "attn_impl is '%s' where the variant's is '%s'", t->attn_impl,
                       e->attn_impl);
    for (size_t i = 0; i < t->count; i++) {
        if (!isfinite(t->item[i].value))
            return verdict(STATUS_INVALID, "%s is not a finite number", t->item[i].name);
    }
    return verdict(STATUS_OK, "%s", "");
}

struct verdict verdict_of(const struct outcome *o, const struct timings *t, const struct expectation *e)
{
    bool ended_itself = !o->exec_errno && o->stop == STOP_NONE && !o->signal;
    if (ended_itself && o->exit_code == VERDICT_EXIT_SKIP && t->skip[0])
        return verdict(STATUS_SKIPPED, "%s", t->skip);
    struct verdict v = verdict_of_command(o);
    return v.status == STATUS_OK ? believe(t, e) : v;
}
