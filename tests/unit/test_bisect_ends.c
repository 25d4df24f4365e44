/* bisect: whether the ends differ, and in which cell. */
#include "tests/unit/bisect_world.h"

TEST(equal_ends_are_not_reproducible)
{
    int found = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world w = {.count = 13, .culprit = 13, .noise = 0.005};
        search(&w, &tried, seed);
        found += tried.end.outcome != BISECT_NOT_REPRODUCIBLE;
    }
    assert_int_equal(found, 0);
}

/* Rounds that decide nothing do not prove that there is nothing. */
TEST(ends_may_stay_undecided)
{
    int undecided = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct world w = {.count = 13, .culprit = 5, .slower = 0.08, .noise = 0.12};
        search(&w, &tried, seed);
        if (tried.items[12].basis != BISECT_BY_UNDECIDED)
            continue;
        assert_int_equal(tried.end.outcome, BISECT_UNDECIDED);
        undecided++;
    }
    assert_true(undecided > 0);
}

TEST(ends_of_one_code_are_not_measured)
{
    struct world w = {.count = 13, .culprit = 5, .slower = 0.08, .code = {[0] = "same", [12] = "same"}};
    search(&w, &tried, 1);
    assert_int_equal(tried.end.outcome, BISECT_NOT_REPRODUCIBLE);
    assert_int_equal(tried.search.pairs, 0);
}

/* A kernel that is launched otherwise is slower, and its code is the same. */
TEST(ends_of_one_device_code_are_measured)
{
    for (size_t culprit = 1; culprit <= 12; culprit++) {
        struct world w = {.count = 13, .culprit = culprit, .slower = 0.08, .noise = 0.005, .of_device = true};
        for (size_t i = 0; i < w.count; i++)
            w.code[i] = "same";
        search(&w, &tried, culprit);
        assert_found(culprit);
    }
    struct world equal = {.count = 13, .culprit = 13, .noise = 0.005, .of_device = true};
    for (size_t i = 0; i < equal.count; i++)
        equal.code[i] = "same";
    search(&equal, &tried, 1);
    assert_int_equal(tried.end.outcome, BISECT_NOT_REPRODUCIBLE);
    assert_int_equal(tried.search.pairs, 1);
}

TEST(an_end_that_failed_once_is_measured_again)
{
    for (size_t end = 0; end <= 12; end += 12) {
        struct world w = {.count = 13, .culprit = 8, .slower = 0.08, .noise = 0.005};
        w.failing[end] = 1;
        search(&w, &tried, 3);
        assert_found(8);
        assert_int_equal(tried.items[0].basis, BISECT_BY_USER);
        w.failing[end] = 100;
        search(&w, &tried, 3);
        assert_int_equal(tried.end.outcome, BISECT_STOPPED);
        assert_int_equal(tried.end.first, end);
        assert_int_equal(tried.search.pairs, 2);
    }
}

/* Neither end is to blame if they ran on different GPUs: another round may bring them together. */
TEST(ends_on_different_gpus_are_measured_again)
{
    struct world w = {.count = 13, .culprit = 8, .slower = 0.08, .noise = 0.005};
    struct delta d = {.verdict = VERDICT_NOISY, .estimate.ratio = NAN, .reason = REASON_APART};
    start(&w, &tried, 3);
    build(&w, &tried, 0);
    build(&w, &tried, 12);
    bisect_measured(&tried.search, 12, &d);
    assert_int_equal(bisect_next(&tried.search).task, BISECT_MEASURE);
    bisect_measured(&tried.search, 12, &d);
    bisect_measured(&tried.search, 12, &d);
    struct bisect_step end = bisect_next(&tried.search);
    assert_int_equal(end.task, BISECT_END);
    assert_int_equal(end.outcome, BISECT_UNDECIDED);
}

/* Of many cells that do not differ, some look as if they did. */
TEST(many_equal_cells_do_not_differ)
{
    enum { CELLS = 24, TRIALS = 100 };
    static struct delta cells[CELLS];
    struct compare_options plain = compare_defaults(), o = bisect_end_options(&plain);
    struct stats_rng rng;
    int wrong = 0;
    stats_rng_seed(&rng, 1);
    for (int trial = 0; trial < TRIALS; trial++) {
        for (int c = 0; c < CELLS; c++) {
            double base[ROUND], now[ROUND];
            for (int i = 0; i < ROUND; i++) {
                base[i] = 1 + 0.05 * stats_rng_normal(&rng);
                now[i] = 1 + 0.05 * stats_rng_normal(&rng);
            }
            const struct pair v = {.base = base, .now = now, .base_n = ROUND, .now_n = ROUND};
            turns_judge_values(&v, METRIC_PREFILL_S, &o, &cells[c]);
        }
        bisect_doubt(cells, CELLS);
        wrong += cells[bisect_clearest(cells, CELLS)].verdict == VERDICT_REGRESSED;
    }
    assert_true(wrong <= 1);
}

TEST(one_cell_of_many_needs_more_evidence)
{
    struct delta cells[] = {
        {.verdict = VERDICT_REGRESSED, .estimate.p = 0.002, .estimate.method = METHOD_BOOTSTRAP},
        {.verdict = VERDICT_REGRESSED, .estimate.p = 1e-5, .estimate.method = METHOD_BOOTSTRAP},
        {.verdict = VERDICT_REGRESSED, .estimate.p = NAN, .estimate.method = METHOD_EXACT},
        {.verdict = VERDICT_UNCHANGED, .estimate.p = 0.5, .estimate.method = METHOD_BOOTSTRAP},
        {.verdict = VERDICT_NOISY, .estimate.p = 0.05, .estimate.method = METHOD_BOOTSTRAP},
        {.verdict = VERDICT_UNCHANGED, .estimate.p = 0.5, .estimate.method = METHOD_BOOTSTRAP}};
    bisect_doubt(cells, 1);
    assert_int_equal(cells[0].verdict, VERDICT_REGRESSED);
    bisect_doubt(cells, COUNT(cells));
    assert_int_equal(cells[0].verdict, VERDICT_NOISY);
    assert_int_equal(cells[0].doubts.lack, LACK_CELLS);
    assert_int_equal(cells[0].doubts.cells, COUNT(cells));
    assert_int_equal(cells[1].verdict, VERDICT_REGRESSED);
    assert_int_equal(cells[2].verdict, VERDICT_REGRESSED);
    assert_int_equal(cells[3].verdict, VERDICT_UNCHANGED);
    cells[1].estimate.mixed = 0.4;
    cells[2].estimate.method = METHOD_THRESHOLD;
    bisect_doubt(&cells[1], 1);
    bisect_doubt(&cells[2], 1);
    assert_int_equal(cells[1].doubts.lack, LACK_AGREEMENT);
    assert_int_equal(cells[2].doubts.lack, LACK_VALUES);
    assert_int_equal(cells[1].verdict, VERDICT_NOISY);
    assert_int_equal(cells[2].verdict, VERDICT_NOISY);
}

/* Most tests of a commit fail: the few that are left show a difference, and prove nothing yet. */
TEST(few_values_decide_nothing)
{
    struct world w = {.count = 13, .culprit = 8, .slower = 0.08, .noise = 0.005};
    struct delta d = {.verdict = VERDICT_REGRESSED,
                      .estimate.method = METHOD_THRESHOLD,
                      .estimate.p = NAN,
                      .base.n = 6,
                      .now.n = 3};
    start(&w, &tried, 3);
    build(&w, &tried, 0);
    build(&w, &tried, 12);
    bisect_measured(&tried.search, 12, &d);
    assert_int_equal(tried.items[12].mark, BISECT_OPEN);
    d.estimate.method = METHOD_MANN_WHITNEY;
    d.estimate.p = 0.03;
    bisect_measured(&tried.search, 12, &d);
    assert_int_equal(tried.items[12].mark, BISECT_OPEN);
    d.estimate.p = 0.001;
    bisect_measured(&tried.search, 12, &d);
    assert_int_equal(tried.items[12].mark, BISECT_BAD);
}

TEST(an_end_that_does_not_build_stops_the_search)
{
    struct world w = {.count = 13, .culprit = 8, .broken = {[12] = true}};
    search(&w, &tried, 3);
    assert_int_equal(tried.end.outcome, BISECT_STOPPED);
    assert_int_equal(tried.end.first, 12);
    assert_int_equal(tried.search.pairs, 0);
}

static struct delta end_cell(enum verdict verdict, int base_n, int now_n, double ratio)
{
    return (struct delta){.verdict = verdict,
                          .base.n = base_n,
                          .now.n = now_n,
                          .estimate.ratio = ratio,
                          .estimate.noise_floor = 0.01};
}

TEST(the_clearest_cell_is_followed)
{
    const struct delta absent = end_cell(VERDICT_NOISY, 0, 6, NAN), gone = end_cell(VERDICT_NOISY, 6, 0, NAN),
                       equal = end_cell(VERDICT_UNCHANGED, 6, 6, 1),
                       open = end_cell(VERDICT_NOISY, 6, 6, 1.02),
                       slow = end_cell(VERDICT_REGRESSED, 6, 6, 1.1),
                       slower = end_cell(VERDICT_REGRESSED, 6, 6, 1.2);
    const struct delta all[] = {absent, equal, open, gone, slow, slower};
    assert_int_equal(bisect_clearest(all, 6), 5);
    assert_int_equal(bisect_clearest(all, 4), 2);
    assert_int_equal(bisect_clearest(all, 2), 1); /* what the good end lacks does not stop the search */
    assert_int_equal(bisect_clearest(all, 1), 0);
}
