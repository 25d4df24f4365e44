#include "results/judge/windows.h"

#include <math.h>
#include <string.h>

/* How the tests that were seen so far were sampled. */
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

enum reason_code windows_differ(enum metric m, const struct run_data *a, const struct cell *of_a,
                                const struct run_data *b, const struct cell *of_b)
{
    struct seen s = {0};
    if (!metric_info(m)->sampled)
        return REASON_NONE;
    see(&s, m, a, of_a);
    see(&s, m, b, of_b);
    if (s.other_window)
        return REASON_OTHER_WINDOW;
    if (s.other_meter && metric_info(m)->metered)
        return REASON_OTHER_METER;
    return REASON_NONE;
}
