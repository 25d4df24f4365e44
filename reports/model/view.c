#include "reports/model/view.h"

#include "common/base/alloc.h"

#include <math.h>
#include <stdlib.h>

/* Cells stand by variant; the tables are read by context. */
struct order_key {
    int context;
    size_t index;
};

static int order_compare(const void *a, const void *b)
{
    const struct order_key *x = a, *y = b;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

size_t *cells_by_context(const struct run_data *run)
{
    AUTO_FREE struct order_key *keys = xcalloc(run->n_cells, sizeof *keys);
    size_t *order = xcalloc(run->n_cells, sizeof *order);
    for (size_t i = 0; i < run->n_cells; i++)
        keys[i] = (struct order_key){.context = run->cells[i].context, .index = i};
    qsort(keys, run->n_cells, sizeof *keys, order_compare);
    for (size_t i = 0; i < run->n_cells; i++)
        order[i] = keys[i].index;
    return order;
}

enum beside beside_of(const struct cell *c, const struct variant_delta *d)
{
    if (c->status != STATUS_OK)
        return BESIDE_NOT_OK;
    if (d->variant == d->reference)
        return BESIDE_REFERENCE;
    if (!isfinite(d->factor))
        return BESIDE_NONE;
    switch (within_verdict(d, compare_defaults().regression)) {
    case VERDICT_IMPROVED:
        return BESIDE_FAST;
    case VERDICT_REGRESSED:
        return BESIDE_SLOW;
    case VERDICT_NOISY:
        return BESIDE_UNSURE;
    case VERDICT_UNCHANGED:
    case VERDICT_SUSPECTED:
    case VERDICT_ACCEPTED:
    case VERDICT_NEW:
    case VERDICT_MISSING:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
    case VERDICT_FIXED:
    case VERDICT_COUNT:
        break;
    }
    return BESIDE_SAME;
}

bool scaling_has_steps(const struct scaling_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].count > 1)
            return true;
    return false;
}

enum scaling_flag scaling_flag_of(const struct scaling_row *row)
{
    if (!isfinite(row->step) || !(row->step > row->step_expected * (1 + SCALING_TOLERANCE)))
        return SCALING_NONE;
    return row->step_low <= row->step_expected ? SCALING_UNSURE : SCALING_ABOVE;
}
