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

static void check_selected(double *x, size_t n, size_t k)
{
    double sorted[1000];
    memcpy(sorted, x, n * sizeof *x);
    values_sort(sorted, n);
    values_select(x, n, k);
    if (x[k] != sorted[k])
        fail_msg("%zu values: %g at %zu, not %g", n, x[k], k, sorted[k]);
    for (size_t i = 0; i < n; i++)
        assert_true(i < k ? x[i] <= x[k] : x[i] >= x[k]);
}

TEST(a_value_is_selected_wherever_it_is)
{
    static const size_t counts[] = {1, 2, 64, 65, 66, 200, 1000};
    for (size_t c = 0; c < COUNT(counts); c++)
        for (size_t n = counts[c], k = 0; k < n; k += 1 + n / 50) {
            double falling[1000], rising[1000], mixed[1000], equal[1000];
            for (size_t i = 0; i < n; i++) {
                falling[i] = (double)(n - i);
                rising[i] = (double)i;
                mixed[i] = (double)(i * 7919 % 101) - 50;
                equal[i] = (double)(i % 2);
            }
            check_selected(falling, n, k);
            check_selected(rising, n, k);
            check_selected(mixed, n, k);
            check_selected(equal, n, k);
        }
}

TEST(infinities_are_the_ends)
{
    double x[] = {3, INFINITY, -2, -INFINITY, 0};
    values_sort(x, COUNT(x));
    assert_true(x[0] == -INFINITY && x[1] == -2 && x[2] == 0 && x[3] == 3 && x[4] == INFINITY);
}

struct item {
    int size, place;
};

static int by_item_size(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return (x->size > y->size) - (x->size < y->size);
}

TEST(items_are_sorted_whether_in_order_or_not)
{
    struct item in_order[] = {{1, 0}, {1, 1}, {2, 2}, {3, 3}}, mixed[] = {{1, 0}, {3, 1}, {2, 2}};
    items_sort(in_order, COUNT(in_order), sizeof *in_order, by_item_size);
    for (int i = 0; i < 4; i++)
        assert_int_equal(in_order[i].place, i);
    items_sort(mixed, COUNT(mixed), sizeof *mixed, by_item_size);
    for (int i = 0; i < 3; i++)
        assert_int_equal(mixed[i].size, i + 1);
    items_sort(NULL, 0, sizeof *mixed, by_item_size);
}
