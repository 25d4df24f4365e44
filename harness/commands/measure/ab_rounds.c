#include "harness/commands/measure/ab_rounds.h"

enum { CHANGE_CONFIRMED = 2 };

static int *rounds_that_found(struct ab_cell *c)
{
    return c->delta.verdict == VERDICT_REGRESSED  ? &c->slower
           : c->delta.verdict == VERDICT_IMPROVED ? &c->faster
                                                  : NULL;
}

void ab_rounds_note(struct ab_cell *c, int64_t rounds_max)
{
    int *found = rounds_that_found(c);
    if (found)
        c->open = ++*found < CHANGE_CONFIRMED && rounds_max > 1;
    else
        c->open = c->delta.verdict == VERDICT_NOISY;
}

void ab_rounds_end(struct ab_cell *c, int64_t rounds_max)
{
    const int *found = c->delta.base.n > 0 && c->delta.now.n > 0 ? rounds_that_found(c) : NULL;
    if (!found || *found >= CHANGE_CONFIRMED || rounds_max == 1)
        return;
    c->open = false;
    c->delta.verdict = VERDICT_NOISY;
    c->delta.reason = REASON_ONE_ROUND;
}
