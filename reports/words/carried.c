#include "reports/words/carried.h"

#include <string.h>

bool carried_list(const struct run_carried *cells, size_t count, size_t i, struct buf *out)
{
    const char *date = cells[i].measured;
    for (size_t k = 0; k < i; k++)
        if (strcmp(cells[k].measured, date) == 0)
            return false;
    for (size_t k = i; k < count; k++)
        if (strcmp(cells[k].measured, date) == 0)
            buf_printf(out, "%s%s %d", k > i ? ", " : "", cells[k].variant, cells[k].context);
    return true;
}
