#include "common/base/values.h"

#include <stdlib.h>

/* Up to here an insertion sort is faster than qsort(), which allocates and calls a function to compare. */
enum { FEW = 64, ROUNDS_MAX = 64 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void items_sort(void *items, size_t n, size_t size, int (*order)(const void *, const void *))
{
    const char *first = items;
    for (size_t i = 1; i < n; i++)
        if (order(first + (i - 1) * size, first + i * size) > 0) {
            qsort(items, n, size, order);
            return;
        }
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

static void swap(double *a, double *b)
{
    double v = *a;
    *a = *b;
    *b = v;
}

/* The median of three of them, so that values in order are the best case. */
static double pivot_of(const double *x, size_t n)
{
    double v[] = {x[0], x[n / 2], x[n - 1]};
    values_sort(v, 3);
    return v[1];
}

void values_select(double *x, size_t n, size_t k)
{
    /* What halves take too long for is sorted, so that no order of values takes longer than that. */
    for (int rounds = 0; n > FEW && rounds < ROUNDS_MAX; rounds++) {
        const double pivot = pivot_of(x, n);
        size_t low = 0, high = n - 1;
        for (;; low++, high--) {
            for (; x[low] < pivot;)
                low++;
            for (; x[high] > pivot;)
                high--;
            if (low >= high)
                break;
            swap(&x[low], &x[high]);
        }
        size_t left = high + 1; /* these are at most the pivot, the others at least */
        if (k < left) {
            n = left;
        } else {
            x += left;
            n -= left;
            k -= left;
        }
    }
    values_sort(x, n);
}
