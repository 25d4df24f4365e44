/* best: the best of several points: found where there is one, and not made up where there is none. */
#include "tests/unit/support.h"

#include "results/judge/search/best.h"
#include "results/judge/search/halving.h"
#include "results/stats/stats.h"

#include <math.h>

enum { POINTS_MAX = 24, VALUES_MAX = 32, TRIALS = 1000 };

static const double LEAST = 1e-6;
static struct best_value values[POINTS_MAX][VALUES_MAX];
static struct best_point points[POINTS_MAX];
static struct best_answer answer;

/* n values per point and run, around centre[i], each run's times its drift. */
static void draw(size_t count, const double *centre, size_t n, double noise, const double *drift, size_t runs,
                 struct stats_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        points[i] = (struct best_point){.value = values[i]};
        for (size_t r = 0; r < runs; r++)
            for (size_t k = 0; k < n; k++)
                values[i][points[i].count++] = (struct best_value){
                    .value = centre[i] * (drift ? drift[r] : 1) * (1 + noise * stats_rng_normal(rng)),
                    .run = r};
    }
}

static void find(size_t count, enum metric_better better, size_t runs)
{
    best_find(points, count, better, LEAST, runs, &answer);
}

/* How often one of equal points is called the only one that can be best, of TRIALS. */
static int sole_winners(size_t count, size_t n, double noise)
{
    struct stats_rng rng;
    double centre[POINTS_MAX];
    int sole = 0;
    stats_rng_seed(&rng, 7 * count + n);
    for (size_t i = 0; i < count; i++)
        centre[i] = 2;
    for (int t = 0; t < TRIALS; t++) {
        draw(count, centre, n, noise, NULL, 1, &rng);
        find(count, METRIC_LESS, 1);
        sole += answer.candidates == 1;
    }
    return sole;
}

TEST(equal_points_have_no_sure_winner)
{
    assert_in_range(sole_winners(2, 3, 0.01), 0, 70); /* 5 % of 1000, and three standard deviations */
    assert_in_range(sole_winners(2, 10, 0.01), 1, 70);
    assert_in_range(sole_winners(24, 5, 0.01), 0, 70);
}

TEST(the_true_best_is_rarely_ruled_out)
{
    struct stats_rng rng;
    int lost = 0;
    double centre[POINTS_MAX];
    stats_rng_seed(&rng, 11);
    for (size_t i = 0; i < POINTS_MAX; i++)
        centre[i] = 1 + 0.002 * (double)i;
    for (int t = 0; t < TRIALS; t++) {
        draw(POINTS_MAX, centre, 5, 0.01, NULL, 1, &rng);
        find(POINTS_MAX, METRIC_LESS, 1);
        lost += !points[0].candidate;
        assert_true(answer.candidates >= 1);
    }
    assert_in_range(lost, 0, 40);
}

TEST(a_clear_best_is_found_with_its_margin)
{
    struct stats_rng rng;
    const double centre[] = {1.10, 1.00, 1.05};
    stats_rng_seed(&rng, 3);
    draw(3, centre, 8, 0.002, NULL, 1, &rng);
    find(3, METRIC_LESS, 1);
    assert_int_equal(answer.best, 1);
    assert_int_equal(answer.second, 2);
    assert_int_equal(answer.candidates, 1);
    assert_true(answer.sure > 0.999 && answer.low < 0.05 && answer.high > 0.05 && answer.low > 0.04);
    assert_int_equal(points[0].beaten_by, 1);
    find(3, METRIC_MORE, 1);
    assert_int_equal(answer.best, 0);
    assert_int_equal(answer.candidates, 1);
}

TEST(what_few_values_say_is_not_enough)
{
    struct stats_rng rng;
    const double centre[] = {1, 2};
    stats_rng_seed(&rng, 5);
    for (size_t n = 1; n < BEST_VALUES_MIN; n++) {
        draw(2, centre, n, 0, NULL, 1, &rng);
        find(2, METRIC_LESS, 1);
        assert_int_equal(answer.best, 0);
        assert_int_equal(answer.candidates, 2);
        assert_true(isnan(answer.sure));
    }
    draw(2, centre, 3, 0, NULL, 1, &rng); /* without any noise */
    find(2, METRIC_LESS, 1);
    assert_int_equal(answer.candidates, 1);
    draw(1, centre, 5, 0.01, NULL, 1, &rng);
    find(1, METRIC_LESS, 1);
    assert_int_equal(answer.second, 1);
    assert_true(isnan(answer.margin) && isnan(answer.sure));
    points[0].count = 0;
    find(1, METRIC_LESS, 1);
    assert_int_equal(answer.candidates, 0);
}

/* Two values of each point: nothing was tested, so that none is said to be as good as another. */
TEST(what_was_not_tested_is_told_apart_by_its_values)
{
    const double drawn[][2] = {{1.01, 1.02}, {2.97, 2.97}, {1.015, 1.03}, {1.0200005, 1.03}};
    for (size_t i = 0; i < 4; i++) {
        points[i] = (struct best_point){.value = values[i], .count = 2};
        for (size_t k = 0; k < 2; k++)
            values[i][k] = (struct best_value){.value = drawn[i][k], .run = 0};
    }
    find(4, METRIC_LESS, 1);
    assert_int_equal(answer.best, 0);
    assert_int_equal(answer.untested, 3);
    assert_int_equal(answer.fewest, 2);
    assert_true(!points[0].untested && points[1].untested);
    assert_true(points[1].beyond && !points[2].beyond &&
                !points[3].beyond); /* the last: by less than LEAST */
    find(4, METRIC_MORE, 1);
    assert_int_equal(answer.best, 1);
    assert_true(points[0].beyond && points[2].beyond && !points[1].beyond);
    points[0].count = points[1].count = 1;
    find(2, METRIC_LESS, 1);
    assert_int_equal(answer.fewest, 1);
    assert_true(points[1].beyond);
}

/* The second run was 20 % slower for all; a point that it did not measure is no better for that. */
TEST(a_node_that_drifts_between_runs_decides_nothing)
{
    struct stats_rng rng;
    const double centre[] = {1, 1}, drift[] = {1, 1.2};
    stats_rng_seed(&rng, 9);
    draw(2, centre, 8, 0.002, drift, 2, &rng);
    points[1].count = 8; /* dropped after the first run */
    find(2, METRIC_LESS, 2);
    assert_int_equal(answer.best, 0);
    assert_int_equal(answer.candidates, 2);
    assert_true(fabs(answer.margin) < 0.01);
}

/* Twelve points of one group, of which the fourth is best by 5 %, measured as a search does. */
static size_t search(struct stats_rng *rng, double noise, size_t *total)
{
    static struct best_value store[12][128];
    struct best_member members[12];
    struct best_point all[12];
    struct best_group g = {.member = members, .point = all, .count = 12};
    bool keep[12];
    *total = 0;
    for (size_t i = 0; i < 12; i++) {
        keep[i] = true;
        members[i] = (struct best_member){.value = store[i]};
        all[i] = (struct best_point){.value = store[i]};
    }
    size_t rounds = 0, left = 12;
    while (left > 0 && rounds < HALVING_ROUNDS_MAX) {
        int64_t n = halving_repetitions(++rounds);
        for (size_t i = 0; i < 12; i++) {
            double centre = 1 + (i == 3 ? 0 : 0.05 + 0.02 * (double)i);
            for (int64_t k = 0; keep[i] && k < n; k++, ++*total)
                store[i][all[i].count++] = (struct best_value){
                    .value = centre * (1 + noise * stats_rng_normal(rng)), .run = rounds - 1};
            members[i].last_run = keep[i] ? rounds - 1 : members[i].last_run;
        }
        best_find(all, 12, METRIC_LESS, LEAST, rounds, &g.answer);
        left = halving_keep(&g, rounds, keep);
    }
    return g.answer.best;
}

TEST(a_search_finds_the_best_with_fewer_tests)
{
    struct stats_rng rng;
    size_t total, most = 0;
    int found = 0;
    stats_rng_seed(&rng, 21);
    for (int t = 0; t < 200; t++) {
        found += search(&rng, 0.02, &total) == 3;
        most = total > most ? total : most;
    }
    assert_in_range(found, 196, 200);
    assert_in_range(most, 36, 12 * 20);
    assert_int_equal(halving_repetitions(1), 3);
    assert_int_equal(halving_repetitions(2), 3);
    assert_int_equal(halving_repetitions(3), 6);
    assert_int_equal(halving_repetitions(HALVING_ROUNDS_MAX), 24);
}
