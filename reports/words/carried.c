#include "reports/words/carried.h"

#include <string.h>

static bool same_list(const struct run_carried *a, const struct run_carried *b)
{
    return a->budget == b->budget && strcmp(a->measured, b->measured) == 0;
}

bool carried_list(const struct run_carried *cells, size_t count, size_t i, struct buf *out)
{
    for (size_t k = 0; k < i; k++)
        if (same_list(&cells[k], &cells[i]))
            return false;
    for (size_t k = i; k < count; k++)
        if (same_list(&cells[k], &cells[i]))
            buf_printf(out, "%s%s %d", k > i ? ", " : "", cells[k].variant, cells[k].context);
    return true;
}

enum msg carried_msg(const struct run_carried *cell)
{
    return !cell->budget ? MSG_CARRIED : *cell->measured ? MSG_LEFT_OUT : MSG_LEFT_OUT_NEVER;
}
