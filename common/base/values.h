/* values: numbers in order of size.
 *
 * What is judged is sorted again and again, mostly a few dozen values at a time. Pure; allocates nothing for
 * few values.
 */
#pragma once

#include <stddef.h>

/* Sorts ascending, in place. None of the values may be NaN. */
void values_sort(double *x, size_t n);
