#include "executor/run/assess.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static struct assessment assess_output(const struct timings *t, const struct expectation *e)
{
    const double *prefill = timings_get(t, "prefill_s");
    if (t->problem[0])
        return assess(STATUS_INVALID, "%s", t->problem);
    if (!t->found)
        return assess(STATUS_INVALID, "exit code 0, but the output has no timings");
    if (!prefill)
        return assess(STATUS_INVALID, "the timings have no prefill_s");
    if (!isfinite(*prefill) || *prefill <= 0)
        return assess(STATUS_INVALID, "prefill_s is %g: not a duration", *prefill);
    if (t->prompt_tokens < 0 && e->prompt_tokens_required)
        return assess(STATUS_INVALID,
                      "the output does not give the number of prompt tokens (\"Prompt tokens: N\")");
    if (t->prompt_tokens >= 0 && t->prompt_tokens != e->context)
        return assess(STATUS_INVALID, "%" PRId64 " prompt tokens where the context is %" PRId64,
                      t->prompt_tokens, e->context);
    if (e->attn_impl[0] && strcmp(t->attn_impl, e->attn_impl) != 0)
        return assess(STATUS_INVALID, "attn_impl is '%s', but the variant's is '%s'", t->attn_impl,
                      e->attn_impl);
    for (size_t i = 0; i < t->count; i++) {
        if (!isfinite(t->item[i].value))
            return assess(STATUS_INVALID, "%s is not a finite number", t->item[i].name);
    }
    return assess(STATUS_OK, "%s", "");
}

struct assessment assess_test(const struct ending *ending, const struct timings *t,
                              const struct expectation *e)
{
    bool exited = !ending->exec_errno && ending->stop == STOP_NONE && !ending->signal;
    if (exited && ending->exit_code == WORKLOAD_EXIT_SKIP && t->skip[0])
        return assess(STATUS_SKIPPED, "%s", t->skip);
    struct assessment a = assess_ending(ending);
    return a.status == STATUS_OK ? assess_output(t, e) : a;
}
