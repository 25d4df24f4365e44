/* alloc: the one way in which arrays grow.
 *
 * ALLOC_GROW(items, wanted, cap) makes room for `wanted` elements and updates both the pointer and its
 * capacity (a size_t). Capacity grows by half, so that n appends cost O(n). False when memory is short: the
 * array then is as it was, and still the caller's to free.
 */
#ifndef KERNSWEEP_COMMON_BASE_ALLOC_H
#define KERNSWEEP_COMMON_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#define ALLOC_GROW(items, wanted, cap) alloc_grow((void **)&(items), sizeof *(items), (wanted), &(cap))

/* items: the address of the array's pointer. */
bool alloc_grow(void **items, size_t size, size_t wanted, size_t *cap);

#endif
