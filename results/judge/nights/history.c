#include "results/judge/nights/history.h"

#include "common/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_cell(const void *a, const void *b)
{
    const struct history_series *x = a, *y = b;
    int names = strcmp(x->variant, y->variant);
    if (names)
        return names;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->metric > y->metric) - (x->metric < y->metric);
}

static int by_place(const void *a, const void *b)
{
    const struct history_series *x = a, *y = b;
    int cells = by_cell(a, b);
    return cells ? cells : (x->device > y->device) - (x->device < y->device);
}

void history_sort(struct history *h)
{
    if (h->count)
        qsort(h->series, h->count, sizeof *h->series, by_place);
}

int history_append(struct history *h, struct history *from, struct err *err)
{
    for (; from->count; from->count--) {
        if (!ALLOC_GROW(h->series, h->count + 1, h->cap))
            return err_set(err, ERR_INTERNAL, "no memory for the history");
        h->series[h->count++] = from->series[from->count - 1];
    }
    return 0;
}

void history_release(struct history *h)
{
    for (size_t i = 0; i < h->count; i++)
        free(h->series[i].points);
    free(h->series);
    *h = (struct history){0};
}

const struct history_series *history_find(const struct history *h, const char *variant, int context,
                                          enum metric m)
{
    struct history_series key = {.context = context, .metric = m};
    snprintf(key.variant, sizeof key.variant, "%s", variant);
    return h->count ? bsearch(&key, h->series, h->count, sizeof key, by_cell) : NULL;
}

int64_t history_last(const struct history *h)
{
    int64_t last = 0, at = 0;
    for (size_t i = 0; i < h->count; i++)
        for (size_t j = 0; j < h->series[i].count; j++) {
            const struct history_point *p = &h->series[i].points[j];
            if (last == 0 || p->measured_at > at || (p->measured_at == at && p->run_key > last)) {
                last = p->run_key;
                at = p->measured_at;
            }
        }
    return last;
}
