/* rank_interval: the interval of a median from ranks alone, against binomial probabilities worked out by
 * hand. */
#include "tests/unit/support.h"

#include "common/base/rank_interval.h"

#include <math.h>

TEST(few_values_have_no_interval)
{
    const double x[] = {3, 1, 2, 5, 4, 6};
    struct rank_interval m;
    for (size_t n = 0; n < 6; n++) /* 2 / 2^5 = 0.0625 lies outside */
        assert_false(rank_interval_of(x, n, 0.95, &m));
    assert_true(rank_interval_of(x, 6, 0.95, &m)); /* 2 / 2^6 = 0.03125 */
    assert_true(m.median == 3.5 && m.low == 1 && m.high == 6);
    assert_true(rank_interval_of(x, 5, 0.90, &m));
    assert_true(m.median == 3 && m.low == 1 && m.high == 5);
}

TEST(the_ranks_are_those_of_the_binomial)
{
    static const struct {
        size_t n, k;
    } cases[] = {{8, 1}, {9, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {100, 40}, {1000, 469}};
    double x[1000];
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = cases[i].n;
        struct rank_interval m;
        for (size_t j = 0; j < n; j++)
            x[j] = (double)(n - j);
        assert_true(rank_interval_of(x, n, 0.95, &m));
        if (m.low != (double)cases[i].k || m.high != (double)(n + 1 - cases[i].k))
            fail_msg("%zu values: the ranks %g and %g, not %zu", n, m.low, m.high, cases[i].k);
    }
    assert_true(x[0] == 1000); /* not sorted in place */
}

/* Of 2000 medians of 12 skewed values the intervals must cover the true one at least 93 times of 100, and
 * must not all do so. */
TEST(it_covers_the_median_as_often_as_it_says)
{
    unsigned long long seed = 1;
    int covered = 0;
    for (int trial = 0; trial < 2000; trial++) {
        double x[12];
        struct rank_interval m;
        for (size_t i = 0; i < COUNT(x); i++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            x[i] = -log(((double)(seed >> 11) + 0.5) / 9007199254740992.0);
        }
        assert_true(rank_interval_of(x, COUNT(x), 0.95, &m));
        covered += m.low <= log(2) && log(2) <= m.high;
    }
    assert_in_range(covered, 1860, 1990);
}
