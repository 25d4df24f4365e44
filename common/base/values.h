/* values: numbers in order of size.
 *
 * What is judged is sorted again and again, mostly a few dozen values at a time. Pure; allocates nothing for
 * few values.
 */
#ifndef KERNSWEEP_COMMON_BASE_VALUES_H
#define KERNSWEEP_COMMON_BASE_VALUES_H

#include <stddef.h>

/* Ascending, in place. None of them is NaN. */
void values_sort(double *x, size_t n);

#endif
