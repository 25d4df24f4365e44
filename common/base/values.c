#include "common/base/values.h"

#include <stdlib.h>

/* Up to here an insertion sort is faster than qsort(), which allocates and calls a function to compare. */
enum { FEW = 64 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void values_sort(double *x, size_t n)
{
    if (n > FEW) {
        qsort(x, n, sizeof *x, by_size);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        double v = x[i];
        size_t j = i;
        for (; j > 0 && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}
