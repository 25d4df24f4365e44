#include "results/query/counted.h"

void counted_release(struct counted *c)
{
    counter_changes_release(&c->changes);
    counter_list_release(&c->base);
    counter_list_release(&c->now);
}

int counted_load(struct store *s, int64_t base, int64_t now, struct counted *out, struct err *err)
{
    *out = (struct counted){0};
    if (base == 0)
        return 0;
    if (counters_of_build(s, base, &out->base, err) != 0 || counters_of_build(s, now, &out->now, err) != 0) {
        counted_release(out);
        return -1;
    }
    counters_differ(&out->base, &out->now, &out->changes);
    return 0;
}
