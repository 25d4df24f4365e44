/* alloc: growing arrays.
 *
 * ALLOC_GROW(items, wanted, cap) makes room for `wanted` elements and updates the pointer and its capacity (a
 * size_t). Capacity grows by half, so that n appends cost O(n). Returns false when out of memory; the array
 * is then unchanged and still the caller's to free.
 */
#ifndef KERNSWEEP_COMMON_BASE_ALLOC_H
#define KERNSWEEP_COMMON_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#define ALLOC_GROW(items, wanted, cap) alloc_grow((void **)&(items), sizeof *(items), (wanted), &(cap))

bool alloc_grow(void **items, size_t size, size_t wanted, size_t *cap);

#endif
