#include "results/judge/openings.h"

#include <stdlib.h>
#include <string.h>

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
