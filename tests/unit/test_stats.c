/* stats: against values known from tables, from counting by hand, and from the definitions. */
#include "tests/unit/support.h"

#include "results/stats/stats.h"

#include <math.h>

TEST(medians_and_quantiles_interpolate)
{
    const double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};
    assert_near(stats_median(odd, 3), 2, 0);
    assert_near(stats_median(even, 4), 2.5, 0);
    assert_near(stats_quantile(even, 4, 0), 1, 0);
    assert_near(stats_quantile(even, 4, 1), 4, 0);
    assert_near(stats_quantile(even, 4, 0.25), 1.75, 1e-12);
    assert_true(isnan(stats_median(odd, 0)));
    assert_near(odd[0], 3, 0);
    double many[1001];
    for (size_t i = 0; i < 1001; i++)
        many[i] = (double)((i * 7919) % 1001);
    assert_near(stats_median(many, 1001), 500, 0);
}

TEST(spreads_match_hand_computed_values)
{
    const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
    assert_near(stats_mean(x, 8), 5, 1e-12);
    assert_near(stats_sd(x, 8), sqrt(32.0 / 7), 1e-12);
    assert_near(stats_mad(x, 8), 0.5, 1e-12);
    assert_true(isnan(stats_sd(x, 1)));
}

/* facts: the smallest two-sided p for n = m. */
TEST(mann_whitney_floor_is_that_of_the_tables)
{
    const double low[] = {1, 2, 3, 4, 5, 6}, high[] = {11, 12, 13, 14, 15, 16};
    const double expected[] = {0.1, 0.028571428571, 0.0079365079365, 0.0021645021645};
    for (size_t n = 3; n <= 6; n++) {
        assert_near(stats_mann_whitney(low, n, high, n), expected[n - 3], 1e-9);
        assert_near(stats_mann_whitney(high, n, low, n), expected[n - 3], 1e-9);
        assert_near(stats_mann_whitney_floor(n, n), expected[n - 3], 1e-9);
    }
    assert_near(stats_mann_whitney_floor(1, 1), 1, 0);
    assert_true(isnan(stats_mann_whitney(low, 0, high, 3)));
}

/* Midranks of value i among all. */
static double midrank(const double *all, size_t n, size_t i)
{
    double below = 0, equal = 0;
    for (size_t j = 0; j < n; j++) {
        below += all[j] < all[i];
        equal += all[j] == all[i];
    }
    return below + (equal + 1) / 2;
}

/* By trying every choice of four among eight. */
static double counted_p(const double *all)
{
    double mine = 0, ways = 0, extreme = 0;
    for (size_t i = 0; i < 4; i++)
        mine += midrank(all, 8, i);
    for (unsigned set = 0; set < 256; set++) {
        double sum = 0;
        if (__builtin_popcount(set) != 4)
            continue;
        for (size_t i = 0; i < 8; i++)
            if (set >> i & 1)
                sum += midrank(all, 8, i);
        ways++;
        extreme += fabs(sum - 18) >= fabs(mine - 18) - 1e-9;
    }
    return extreme / ways;
}

TEST(mann_whitney_counts_ties_exactly)
{
    const double cases[][8] = {
        {1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 2, 2, 3, 3, 4}, {5, 5, 5, 5, 5, 5, 5, 5},
        {1, 3, 3, 9, 3, 4, 4, 4}, {2, 2, 2, 2, 1, 1, 1, 9},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_near(stats_mann_whitney(cases[i], 4, cases[i] + 4, 4), counted_p(cases[i]), 1e-12);
}

TEST(mann_whitney_approximation_meets_the_exact_one)
{
    double x[21], y[21];
    for (size_t i = 0; i < 21; i++) {
        x[i] = (double)i;
        y[i] = (double)i + 4.5;
    }
    double exact = stats_mann_whitney(x, 20, y, 20), rough = stats_mann_whitney(x, 21, y, 21);
    assert_true(exact > 0.01 && exact < 0.1);
    assert_near(rough, exact, 0.01);
}

TEST(bootstrap_is_repeatable_and_covers)
{
    const double x[] = {10.0, 10.1, 9.9, 10.05, 9.95, 10.02}, y[] = {12.0, 12.1, 11.9, 12.05, 11.95, 12.02};
    struct stats_rng rng;
    stats_rng_seed(&rng, 1);
    struct stats_interval a = stats_bootstrap_ratio(x, 6, y, 6, 0.95, 2000, &rng);
    stats_rng_seed(&rng, 1);
    struct stats_interval b = stats_bootstrap_ratio(x, 6, y, 6, 0.95, 2000, &rng);
    assert_near(a.low, b.low, 0);
    assert_near(a.high, b.high, 0);
    assert_true(a.low < 1.2 && a.high > 1.2 && a.low > 1.17 && a.high < 1.23);
    struct stats_interval none = stats_bootstrap_ratio(x, 0, y, 6, 0.95, 2000, &rng);
    assert_true(isnan(none.low) && isnan(none.high));
}

TEST(p_values_are_adjusted_for_multiple_comparisons)
{
    const double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
    const double expected[] = {0.02, 0.04, NAN, 0.04, 0.02};
    double adjusted[5];
    stats_benjamini_hochberg(p, 5, adjusted);
    for (size_t i = 0; i < 5; i++)
        if (isnan(expected[i]))
            assert_true(isnan(adjusted[i]));
        else
            assert_near(adjusted[i], expected[i], 1e-12);
    stats_benjamini_hochberg(p, 0, adjusted);
}

TEST(a_power_law_is_fitted_exactly)
{
    const double n[] = {4096, 8192, 16384}, exact[] = {1, 4, 16};
    const double t[] = {22.7681, 114.265, 469.749};
    double a, k, residual;
    assert_true(stats_power_fit(n, exact, 3, &a, &k, &residual));
    assert_near(k, 2, 1e-12);
    assert_near(residual, 0, 1e-12);
    assert_near(a * pow(4096, k), 1, 1e-9);
    assert_true(stats_power_fit(n, t, 3, &a, &k, &residual));
    /* Three equidistant points on the log axis: the slope is that of the outer two. */
    assert_near(k, log(469.749 / 22.7681) / log(4), 1e-12);
    assert_false(stats_power_fit(n, t, 1, &a, &k, &residual));
    assert_true(stats_power_fit(n, t, 2, &a, &k, &residual));
    assert_true(isnan(residual));
}

TEST(normal_tail_matches_the_tables)
{
    assert_near(stats_normal_p(0), 1, 1e-12);
    assert_near(stats_normal_p(1.959963985), 0.05, 1e-9);
    assert_near(stats_normal_p(-3.5), 0.000465258, 1e-9);
}

TEST(outliers_are_marked)
{
    const double x[] = {1.0, 1.01, 0.99, 1.02, 5.0}, flat[] = {1, 1, 1};
    bool marks[5];
    assert_int_equal(stats_outliers(x, 5, 14.826, marks), 1);
    assert_true(marks[4]);
    assert_false(marks[0]);
    assert_int_equal(stats_outliers(flat, 3, 14.826, NULL), 0);
}

TEST(random_numbers_are_fair)
{
    struct stats_rng rng;
    double sum = 0, squares = 0;
    size_t seen[3] = {0};
    stats_rng_seed(&rng, 3);
    for (int i = 0; i < 30000; i++) {
        double z = stats_rng_normal(&rng);
        sum += z;
        squares += z * z;
        seen[stats_rng_below(&rng, 3)]++;
    }
    assert_near(sum / 30000, 0, 0.03);
    assert_near(squares / 30000, 1, 0.03);
    for (size_t i = 0; i < 3; i++)
        assert_near((double)seen[i] / 30000, 1.0 / 3, 0.01);
}
