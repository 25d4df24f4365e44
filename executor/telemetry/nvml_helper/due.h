/* due: what is read at a rate of its own, by whoever is asked at a rate of others. A tick comes some
 * milliseconds early or late, so it is taken for the one that is due if it lies nearer to that than to the
 * one before; over time the rate is kept.
 */
#pragma once

#include <stdbool.h>

struct due {
    double at_s; /* 0: now */
};

static inline bool due_take(struct due *d, double now_s, double interval_s)
{
    const double early = 0.4;
    if (now_s < d->at_s - early * interval_s)
        return false;
    bool late = now_s > d->at_s + interval_s;
    d->at_s = (late ? now_s : d->at_s) + interval_s;
    return true;
}
