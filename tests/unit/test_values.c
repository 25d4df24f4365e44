/* values: any number of values in order, whichever way they are sorted. */
#include "tests/unit/support.h"

#include "common/base/values.h"

static void check_sorted(double *x, size_t n)
{
    double before = 0, after = 0;
    for (size_t i = 0; i < n; i++)
        before += x[i];
    values_sort(x, n);
    for (size_t i = 0; i < n; i++) {
        after += x[i];
        if (i > 0 && x[i - 1] > x[i])
            fail_msg("%zu values: %g before %g", n, x[i - 1], x[i]);
    }
    assert_true(before == after); /* whole numbers, so the order of the sum does not matter */
}

TEST(few_and_many_values_are_sorted)
{
    enum { MOST = 200 };
    for (size_t n = 0; n <= MOST; n++) {
        double falling[MOST + 1], mixed[MOST + 1], equal[MOST + 1];
        for (size_t i = 0; i < n; i++) {
            falling[i] = (double)(n - i);
            mixed[i] = (double)(i * 7919 % 101) - 50;
            equal[i] = (double)(i % 2);
        }
        check_sorted(falling, n);
        check_sorted(mixed, n);
        check_sorted(equal, n);
    }
}

TEST(infinities_are_the_ends)
{
    double x[] = {3, INFINITY, -2, -INFINITY, 0};
    values_sort(x, COUNT(x));
    assert_true(x[0] == -INFINITY && x[1] == -2 && x[2] == 0 && x[3] == 3 && x[4] == INFINITY);
}
