#include "results/judge/windows.h"

#include <math.h>
#include <string.h>

/* What was seen so far. */
struct seen {
    const struct run_activity *first; /* NULL: nothing */
    bool other_window, other_meter;
};

static void see(struct seen *s, enum metric m, const struct run_data *run, const struct cell *c)
{
    for (size_t i = 0; c && i < c->count; i++) {
        const struct run_test *t = &run->tests[c->first + i];
        if (t->warmup || t->status != STATUS_OK || isnan(t->value[m]) || !*t->activity.window)
            continue;
        if (!s->first)
            s->first = &t->activity;
        s->other_window |= strcmp(t->activity.window, s->first->window) != 0;
        s->other_meter |= t->activity.joules_measured != s->first->joules_measured;
    }
}

const char *windows_differ(enum metric m, const struct run_data *a, const struct cell *of_a,
                           const struct run_data *b, const struct cell *of_b)
{
    struct seen s = {0};
    if (!metric_info(m)->sampled)
        return NULL;
    see(&s, m, a, of_a);
    see(&s, m, b, of_b);
    if (s.other_window)
        return "sampled over different parts of the tests: not comparable";
    if (s.other_meter && metric_info(m)->metered)
        return "measured by the energy accumulator in some tests, computed from the power in others: not"
               " comparable";
    return NULL;
}
