#include "executor/suite/assess.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double assess_seconds(const char *name, const struct own_metrics *metrics)
{
    static const struct {
        const char *ending;
        double seconds;
    } known[] = {{"_s", 1}, {"_ms", 1e-3}, {"_us", 1e-6}};
    const struct own_metric *own = metrics ? own_metrics_find(metrics, name) : NULL;
    size_t len = strlen(name);
    if (own)
        return own_metric_seconds(own->unit);
    if (strstr(name, "_per_")) /* a rate, such as gb_per_s */
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].ending);
        if (len > n && strcmp(name + len - n, known[i].ending) == 0)
            return known[i].seconds;
    }
    return 0;
}

/* By default a program need not print timings: its wall time counts. It must if the plan says that it does.
 */
static bool must_print(const struct expectation *e)
{
    bool wall = e->rule && e->rule->kind == TIMING_WALL;
    return !wall &&
           (e->attn_impl[0] || e->prompt_tokens_required || (e->rule && timing_rule_is_given(e->rule)));
}

/* Returns the metric that a run of this plan is judged by, if it is to be printed; NULL: the wall time. */
static const char *judged_by(const struct timings *t, const struct expectation *e)
{
    const struct own_metric *own = e->metrics ? own_metrics_primary(e->metrics) : NULL;
    if (own)
        return own->name;
    for (size_t i = 0; own_metric_judged[i]; i++)
        if (timings_get(t, own_metric_judged[i]) ||
            (e->rule && timing_rule_has(e->rule, own_metric_judged[i])))
            return own_metric_judged[i];
    if (e->metrics && e->metrics->count)
        return e->metrics->item[0].name;
    return must_print(e) && (!e->rule || e->rule->kind == TIMING_MARK) ? "prefill_s" : NULL;
}

static struct assessment assess_judged(const struct timings *t, const struct expectation *e)
{
    const char *name = judged_by(t, e);
    const double *value = name ? timings_get(t, name) : NULL;
    if (!value && t->unread[0])
        return assess(STATUS_INVALID, "%s", t->unread);
    if (!name)
        return assess(STATUS_OK, "%s", "");
    if (!value)
        return assess(STATUS_INVALID, "the timings have no %s", name);
    bool positive = isfinite(*value) && *value > 0;
    if (!positive && assess_seconds(name, e->metrics) > 0)
        return assess(STATUS_INVALID, "%s is %g: not a duration", name, *value);
    return assess(STATUS_OK, "%s", "");
}

static struct assessment assess_values(const struct timings *t, const struct expectation *e)
{
    for (size_t i = 0; i < t->count; i++) {
        const char *name = t->item[i].name;
        double value = t->item[i].value, unit = assess_seconds(name, e->metrics);
        if (!isfinite(value))
            return assess(STATUS_INVALID, "%s is not a finite number", name);
        if (value < 0 && own_metric_is_reserved(name))
            return assess(STATUS_INVALID, "%s is %g: it cannot be negative", name, value);
        if (unit > 0 && own_metric_too_long(value * unit, e->wall_s))
            return assess(STATUS_INVALID, "%s is %g s, but the process ran for only %.3g s", name,
                          value * unit, e->wall_s);
    }
    return assess(STATUS_OK, "%s", "");
}

static struct assessment assess_prompt(const struct timings *t, const struct expectation *e)
{
    if (t->prompt_problem[0])
        return assess(STATUS_INVALID, "the number of prompt tokens is printed as '%.100s'",
                      t->prompt_problem);
    if (t->prompt_tokens < 0 && e->prompt_tokens_required)
        return assess(STATUS_INVALID,
                      "the output does not give the number of prompt tokens (\"Prompt tokens: N\")");
    if (e->context > 0 && t->prompt_tokens >= 0 && t->prompt_tokens != e->context)
        return assess(STATUS_INVALID, "%" PRId64 " prompt tokens where the context is %" PRId64,
                      t->prompt_tokens, e->context);
    if (e->attn_impl[0] && strcmp(t->attn_impl, e->attn_impl) != 0)
        return assess(STATUS_INVALID, "attn_impl is '%s', but the variant's is '%s'", t->attn_impl,
                      e->attn_impl);
    return assess(STATUS_OK, "%s", "");
}

/* What was looked for, and what there was instead. */
static struct assessment assess_nothing_found(const struct timings *t, const struct expectation *e)
{
    const struct timing_rule *rule = e->rule;
    char wanted[TIMINGS_TEXT_MAX] = "no line has [PERF_TIMING]";
    if (rule && rule->kind == TIMING_REGEX)
        snprintf(wanted, sizeof wanted, "no line matches %s", rule->pattern);
    else if (rule && rule->kind == TIMING_JSON && rule->count > 0)
        snprintf(wanted, sizeof wanted, "no JSON in the output has a number at %s", rule->part[0].path);
    if (t->unread[0])
        return assess(STATUS_INVALID, "%s", t->unread);
    if (!t->last[0])
        return assess(STATUS_INVALID, "%s: nothing was printed", wanted);
    if (t->nearest[0] && strcmp(t->nearest, t->last) != 0)
        return assess(STATUS_INVALID, "%s; the nearest line is: %.120s; the last is: %.120s", wanted,
                      t->nearest, t->last);
    return assess(STATUS_INVALID, "%s; the last line is: %.150s", wanted, t->last);
}

static struct assessment assess_output(const struct timings *t, const struct expectation *e)
{
    static struct assessment (*const checks[])(const struct timings *, const struct expectation *) = {
        assess_judged, assess_prompt, assess_values};
    if (t->problem[0])
        return assess(STATUS_INVALID, "%s", t->problem);
    if (!t->found && must_print(e))
        return assess_nothing_found(t, e);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct assessment a = checks[i](t, e);
        if (a.status != STATUS_OK)
            return a;
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
