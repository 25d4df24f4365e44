/* counter_changes: which hardware counters differ most between two builds. Says nothing of causes. Pure; the
 * owner calls counter_changes_release().
 */
#pragma once

#include "results/store/counter_list.h"

enum { COUNTER_CHANGES_MAX = 6 /* of one variant at one context */ };

struct counter_change {
    const struct counter *base, *now; /* borrowed from the lists */
    double ratio;                     /* now / base; infinite if only the base is 0 */
};

struct counter_changes {
    struct counter_change
        *items; /* by variant and context in the order of now, the greatest difference first */
    size_t count;
};

/* Of kernels that both have, those counters that differ by 2 % or more. The lists, in the order of
 * counters_of_build(), must outlive the result. */
void counters_differ(const struct counter_list *base, const struct counter_list *now,
                     struct counter_changes *out);
void counter_changes_release(struct counter_changes *c);
