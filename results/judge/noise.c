#include "results/judge/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_place(const void *a, const void *b)
{
    const struct noise_cell *x = a, *y = b;
    int names = strcmp(x->variant, y->variant);
    if (names)
        return names;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

void noise_sort(struct noise *n)
{
    if (n->count)
        qsort(n->cells, n->count, sizeof *n->cells, by_place);
}

struct noise_cell *noise_find(const struct noise *n, const char *variant, int context, enum metric m)
{
    struct noise_cell key = {.context = context, .metric = m};
    snprintf(key.variant, sizeof key.variant, "%s", variant);
    return n->count ? bsearch(&key, n->cells, n->count, sizeof key, by_place) : NULL;
}

double noise_spread(const struct noise *n, const char *variant, int context, enum metric m)
{
    const struct noise_cell *c = n ? noise_find(n, variant, context, m) : NULL;
    return c ? c->spread : NAN;
}

void noise_release(struct noise *n)
{
    free(n->cells);
    *n = (struct noise){0};
}
