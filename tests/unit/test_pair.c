/* pair: how often two equal sides seem to differ, and that an outlier hides no difference.
 * unsanitized: thousands of bootstraps of one function; integration/first_hour runs it
 */
#include "tests/unit/support.h"

#include "results/judge/pair.h"
#include "results/stats/stats.h"

enum { VALUES_MAX = 40, ROUNDS = 4000 };
static const double alpha = 0.05;

enum noise { NORMAL, SKEWED, OUTLIERS, TWO_STATES };

static double value_of(struct stats_rng *r, enum noise noise)
{
    double x = 1 + 0.03 * stats_rng_normal(r), chance = stats_rng_normal(r);
    switch (noise) {
    case NORMAL:
        return x;
    case SKEWED:
        return exp(0.1 * fabs(chance)) * x;
    case OUTLIERS: /* one in twelve takes three times as long */
        return chance > 1.4 ? 3 * x : x;
    case TWO_STATES: /* two of five, 8 % apart */
        return chance > 0.25 ? 1.08 * x : x;
    }
    return x;
}

/* How often two sides of n values of which the second takes `factor` times as long are called different. */
static double called_different(size_t n, enum noise noise, double factor)
{
    struct stats_rng r;
    double base[VALUES_MAX], now[VALUES_MAX];
    int found = 0;
    stats_rng_seed(&r, n);
    for (int i = 0; i < ROUNDS; i++) {
        for (size_t k = 0; k < n; k++) {
            base[k] = value_of(&r, noise);
            now[k] = factor * value_of(&r, noise);
        }
        const struct pair v = {.base = base, .base_n = n, .now = now, .now_n = n};
        const struct pair_estimate e = pair_estimate(&v, alpha);
        enum pair_answer answer = pair_differ(&e, 0);
        found += answer == PAIR_LESS || answer == PAIR_MORE;
    }
    return (double)found / ROUNDS;
}

TEST(equal_sides_are_called_different_no_more_often_than_alpha)
{
    static const size_t sizes[] = {4, 5, 8, 10, 13, 20, 40};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (enum noise noise = NORMAL; noise <= TWO_STATES; noise++)
            assert_in_range(1000 * called_different(sizes[i], noise, 1), 0, 1000 * alpha + 7);
}

TEST(a_difference_is_found_in_spite_of_outliers)
{
    assert_in_range(1000 * called_different(8, OUTLIERS, 1.1), 700, 1000);
    assert_in_range(1000 * called_different(10, OUTLIERS, 1.1), 600, 1000);
    assert_in_range(1000 * called_different(20, OUTLIERS, 1.1), 970, 1000);
    assert_in_range(1000 * called_different(20, NORMAL, 1.1), 990, 1000);
}

/* Ten runs of two commands: 0.284 s and 0.382 s in the median, of the second one far away. */
TEST(one_outlier_of_ten_does_not_hide_a_third)
{
    const double base[] = {.236, .236, .240, .280, .283, .285, .286, .287, .287, .290},
                 now[] = {.350, .351, .360, .370, .380, .384, .400, .460, .477, 2.5};
    const struct pair v = {.base = base, .base_n = 10, .now = now, .now_n = 10};
    const struct pair_estimate e = pair_estimate(&v, alpha);
    assert_int_equal(pair_differ(&e, 0.05), PAIR_MORE);
    assert_true(pair_reach(&e) < 0.2);
}

GROUP(NULL, NULL);
