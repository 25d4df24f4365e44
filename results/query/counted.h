/* counted: the hardware counters of two runs' builds, and which differ most. The owner calls
 * counted_release(). */
#pragma once

#include "results/judge/counter_changes.h"

struct counted {
    struct counter_list base, now;
    struct counter_changes changes; /* points into the two */
};

/* base 0: nothing was compared. Empty where one of the two was not counted. */
int counted_load(struct store *s, int64_t base, int64_t now, struct counted *out, struct err *err);
void counted_release(struct counted *c);
