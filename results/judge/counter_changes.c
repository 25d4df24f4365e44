#include "results/judge/counter_changes.h"

#include "common/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double least_change = 0.02;

void counter_changes_release(struct counter_changes *c)
{
    free(c->items);
    *c = (struct counter_changes){0};
}

static bool same_cell(const struct counter *a, const struct counter *b)
{
    return strcmp(a->variant, b->variant) == 0 && a->context == b->context;
}

static const struct counter *find_same(const struct counter_list *l, const struct counter *c)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct counter *o = &l->items[i];
        if (same_cell(o, c) && strcmp(o->kernel, c->kernel) == 0 && strcmp(o->name, c->name) == 0 &&
            strcmp(o->unit, c->unit) == 0)
            return o;
    }
    return NULL;
}

/* How far apart two values are, whichever is greater; 0 if that is less than anybody cares for. */
static double distance(double base, double now)
{
    if (base == now || base < 0 || now < 0)
        return 0;
    double d = base > 0 && now > 0 ? fabs(log(now / base)) : (double)INFINITY;
    return d < log1p(least_change) ? 0 : d;
}

static int by_distance(const void *a, const void *b)
{
    const struct counter_change *x = a, *y = b;
    double dx = distance(x->base->value, x->now->value), dy = distance(y->base->value, y->now->value);
    if (dx != dy)
        return dx > dy ? -1 : 1;
    return (x->now > y->now) - (x->now < y->now);
}

/* Sorts the changes of one cell, which were added last, and drops all but the first. */
static void keep_greatest(struct counter_changes *c, size_t first)
{
    size_t n = c->count - first;
    if (n > 1)
        qsort(c->items + first, n, sizeof *c->items, by_distance);
    if (n > COUNTER_CHANGES_MAX)
        c->count = first + COUNTER_CHANGES_MAX;
}

void counters_differ(const struct counter_list *base, const struct counter_list *now,
                     struct counter_changes *out)
{
    size_t first = 0;
    *out = (struct counter_changes){.items = xcalloc(now->count, sizeof *out->items)};
    for (size_t i = 0; i < now->count; i++) {
        const struct counter *c = &now->items[i], *before = find_same(base, c);
        if (i > 0 && !same_cell(c, c - 1)) {
            keep_greatest(out, first);
            first = out->count;
        }
        if (before && distance(before->value, c->value) > 0)
            out->items[out->count++] =
                (struct counter_change){.base = before, .now = c, .ratio = c->value / before->value};
    }
    keep_greatest(out, first);
}
