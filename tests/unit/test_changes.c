/* changes: finds the night a level changed, and neither noise nor one odd night. */
#include "tests/unit/results_support.h"

#include "results/judge/nights/changes.h"
#include "results/stats/stats.h"

TEST(welch_meets_the_table)
{
    const double a[] = {1, 2, 3, 4, 5}, b[] = {3, 4, 5, 6, 7};
    assert_near(stats_t_p(2.228139, 10), 0.05, 1e-6);
    assert_near(stats_t_p(12.7062, 1), 0.05, 1e-6);
    assert_near(stats_t_p(4.5869, 10), 0.001, 1e-6);
    assert_near(stats_t_p(1.96, 1e9), 0.0499958, 1e-6);
    assert_near(stats_t_p(0, 5), 1, 1e-12);
    assert_near(stats_welch(a, 5, b, 5), 0.0805162, 1e-6);
    assert_true(isnan(stats_welch(a, 1, b, 5)));
}

static void noise(double *x, size_t n, double level, double spread, struct stats_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        x[i] = level * (1 + spread * stats_rng_normal(rng));
}

TEST(steps_are_found_where_they_are)
{
    struct stats_rng rng;
    AUTO(changes_release) struct changes c = {0};
    const struct changes_options o = changes_defaults();
    double x[60];
    stats_rng_seed(&rng, 11);
    noise(x, 20, 10, 0.005, &rng);
    noise(x + 20, 25, 10.6, 0.005, &rng);
    noise(x + 45, 15, 9.8, 0.005, &rng);
    changes_find(x, 60, &o, &c);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.items[0].at, 20);
    assert_int_equal(c.items[1].at, 45);
    assert_near(c.items[0].ratio, 1.06, 0.005);
    assert_near(c.items[1].after, 9.8, 0.05);
    assert_true(c.items[0].p < 0.001);
}

TEST(five_nights_of_a_step_at_the_end_are_enough)
{
    struct stats_rng rng;
    const struct changes_options o = changes_defaults();
    int found = 0;
    stats_rng_seed(&rng, 12);
    for (int trial = 0; trial < 200; trial++) {
        AUTO(changes_release) struct changes c = {0};
        double x[30];
        noise(x, 25, 10, 0.01, &rng);
        noise(x + 25, 5, 10.5, 0.01, &rng);
        changes_find(x, 30, &o, &c);
        found += c.count == 1 && c.items[0].at >= 23 && c.items[0].at <= 27;
    }
    assert_true(found >= 190);
}

TEST(noise_is_no_change)
{
    struct stats_rng rng;
    const struct changes_options o = changes_defaults();
    int false_alarms = 0;
    stats_rng_seed(&rng, 13);
    for (int trial = 0; trial < 400; trial++) {
        AUTO(changes_release) struct changes c = {0};
        double x[40];
        noise(x, 40, 10, 0.015, &rng);
        changes_find(x, 40, &o, &c);
        false_alarms += c.count > 0;
    }
    if (false_alarms > 8)
        fail_msg("%d of 400 still series changed", false_alarms);
}

TEST(one_odd_night_is_no_change)
{
    struct stats_rng rng;
    AUTO(changes_release) struct changes c = {0};
    const struct changes_options o = changes_defaults();
    double x[40];
    stats_rng_seed(&rng, 14);
    noise(x, 40, 10, 0.004, &rng);
    x[17] = 20;
    changes_find(x, 40, &o, &c);
    assert_int_equal(c.count, 0);
}

/* Every so many nights take longer, and now and then two of them follow each other. */
static void spikes(double *x, size_t n, double by, struct stats_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        if (stats_rng_below(rng, 12) == 0)
            x[i] *= 1 + by * (0.8 + 0.4 * stats_rng_unit(rng));
}

TEST(spikes_are_no_level_and_hide_no_step)
{
    struct stats_rng rng;
    const struct changes_options o = changes_defaults();
    int still = 0, found = 0;
    stats_rng_seed(&rng, 15);
    for (int trial = 0; trial < 200; trial++) {
        AUTO(changes_release) struct changes none = {0};
        AUTO(changes_release) struct changes one = {0};
        double x[120];
        noise(x, 120, 10, 0.01, &rng);
        spikes(x, 120, 0.2, &rng);
        changes_find(x, 120, &o, &none);
        still += none.count == 0;
        for (size_t i = 80; i < 120; i++)
            x[i] *= 1.05;
        changes_find(x, 120, &o, &one);
        for (size_t i = 0; i < one.count; i++)
            found += one.items[i].at >= 78 && one.items[i].at <= 82 && one.items[i].ratio > 1;
    }
    assert_true(still >= 180);
    assert_true(found >= 180);
}

/* For three nights each, at least, the one or the other. */
TEST(two_states_are_no_changes)
{
    struct stats_rng rng;
    const struct changes_options o = changes_defaults();
    int still = 0;
    stats_rng_seed(&rng, 16);
    for (int trial = 0; trial < 200; trial++) {
        AUTO(changes_release) struct changes c = {0};
        double x[120];
        noise(x, 120, 10, 0.01, &rng);
        for (size_t i = 0, last = 0, slow = 0; i < 120; i++) {
            if (i >= last + 3 && stats_rng_below(&rng, 3) == 0) {
                last = i;
                slow = !slow;
            }
            x[i] *= slow ? 1.1 : 1;
        }
        changes_find(x, 120, &o, &c);
        still += c.count == 0;
    }
    assert_true(still >= 190);
}

TEST(the_first_two_nights_of_a_step_are_listed)
{
    struct stats_rng rng;
    AUTO(changes_release) struct changes c = {0};
    const struct changes_options o = changes_defaults();
    double x[40];
    stats_rng_seed(&rng, 17);
    noise(x, 38, 10, 0.005, &rng);
    noise(x + 38, 2, 10.8, 0.005, &rng);
    changes_find(x, 40, &o, &c);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.items[0].at, 38);
}

TEST(short_and_flat_series_are_fine)
{
    struct changes c;
    const struct changes_options o = changes_defaults();
    const double flat[] = {1, 1, 1, 1, 1, 1}, step[] = {1, 1, 2, 2};
    for (size_t n = 0; n <= 6; n++) {
        changes_find(flat, n, &o, &c);
        assert_int_equal(c.count, 0);
        changes_release(&c);
    }
    changes_find(step, 4, &o, &c);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.items[0].at, 2);
    changes_release(&c);
}

TEST(a_very_long_series_is_searched_at_its_end)
{
    AUTO(changes_release) struct changes c = {0};
    const struct changes_options o = changes_defaults();
    size_t n = CHANGES_POINTS_MAX + 500;
    double *x = calloc(n, sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = (i < n - 100 ? 10 : 12) + 0.01 * (double)(i % 3);
    changes_find(x, n, &o, &c);
    assert_int_equal(c.from, 500);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.items[0].at, n - 100);
    free(x);
}

GROUP(scratch_make, scratch_remove);
