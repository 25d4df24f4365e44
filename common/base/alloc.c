#include "common/base/alloc.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 16 };

bool alloc_grow(void **items, size_t size, size_t wanted, size_t *cap)
{
    if (wanted <= *cap)
        return true;
    if (*cap > SIZE_MAX / 4)
        return false;
    size_t room = *cap + *cap / 2 + FIRST_CAPACITY;
    if (room < wanted)
        room = wanted;
    void *grown = room <= SIZE_MAX / size ? realloc(*items, room * size) : NULL;
    if (!grown)
        return false;
    *items = grown;
    *cap = room;
    return true;
}
