/* values: numbers, and other items, in order of size.
 *
 * What is judged is sorted again and again, mostly a few dozen values at a time. Pure; allocates nothing for
 * few values.
 */
#pragma once

#include <stddef.h>

/* As qsort(), but what is in order already costs no more than to look. */
void items_sort(void *items, size_t n, size_t size, int (*order)(const void *, const void *));

/* Sorts ascending, in place. None of the values may be NaN. */
void values_sort(double *x, size_t n);

/* Puts the value that would be at k there, with none greater before it and none less behind it. k < n. None
 * of the values may be NaN. */
void values_select(double *x, size_t n, size_t k);
