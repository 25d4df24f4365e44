#include "results/judge/openings.h"

#include "results/judge/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double share_of_change = 0.5;

void openings_release(struct openings *o)
{
    free(o->items);
    *o = (struct openings){0};
}

const struct opening *openings_of(const struct openings *o, const char *variant, int context)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->items[i].context == context && strcmp(o->items[i].variant, variant) == 0)
            return &o->items[i];
    return NULL;
}

bool opening_wanted(const struct comparison *c, const struct delta *d)
{
    switch (d->verdict) {
    case VERDICT_REGRESSED:
    case VERDICT_SUSPECTED:
    case VERDICT_IMPROVED:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
    case VERDICT_MISSING:
        return d->metric == c->primary;
    case VERDICT_ACCEPTED:
    case VERDICT_UNCHANGED:
    case VERDICT_NOISY:
    case VERDICT_NEW:
    case VERDICT_FIXED:
    case VERDICT_COUNT:
        break;
    }
    return false;
}

static void look_back(const struct comparison *c, struct delta *d)
{
    const struct history_series *s = history_find(&c->seen, d->variant, d->context, d->metric);
    double change = log(d->now.median / d->base.median);
    size_t first = s ? s->count : 0;
    if (!s || !isfinite(change))
        return;
    while (first > 0 && log(s->points[first - 1].median / d->base.median) / change >= share_of_change)
        first--;
    if (first < s->count)
        d->stand.since = s->points[first].measured_at;
}

void openings_look_back(struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct delta *d = &c->deltas[i];
        if (opening_wanted(c, d) && d->compared == COMPARED_RUNS && d->stand.since == 0)
            look_back(c, d);
    }
}
