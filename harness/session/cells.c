#include "harness/session/cells.h"

#include "common/base/alloc.h"

#include <stdio.h>

void cells_add(struct suspect_list *l, const char *variant, int64_t context)
{
    l->items = xrealloc(l->items, (l->count + 1) * sizeof *l->items);
    struct suspect *cell = &l->items[l->count++];
    *cell = (struct suspect){.context = (int)context};
    snprintf(cell->variant, sizeof cell->variant, "%s", variant);
}

struct suspect_list cells_of_plan(const struct plan *p)
{
    struct suspect_list all = {.items = NULL};
    for (size_t c = 0; c < p->matrix.count; c++)
        for (size_t v = 0; v < p->variants.count; v++)
            if (plan_variant_runs(&p->variants, &p->variants.item[v], p->matrix.contexts[c].tokens))
                cells_add(&all, p->variants.item[v].name, p->matrix.contexts[c].tokens);
    return all;
}

int cells_keep(struct plan *p, const struct suspect_list *cells, struct err *err)
{
    AUTO_FREE struct plan_cell *all = xcalloc(cells->count, sizeof *all);
    for (size_t i = 0; i < cells->count; i++)
        all[i] = (struct plan_cell){cells->items[i].variant, cells->items[i].context};
    return plan_keep_cells(p, all, cells->count, err);
}

int cells_settle(const struct settling *s, struct err *err)
{
    for (size_t round = 1; round <= s->rounds_max; round++) {
        AUTO(suspect_list_release) struct suspect_list open = {.items = NULL};
        if (s->open(s->of, &open, err) != 0)
            return -1;
        if (open.count == 0)
            break;
        if (s->measure(s->of, &open, round, err) != 0 || s->judge(s->of, err) != 0)
            return -1;
    }
    return 0;
}
