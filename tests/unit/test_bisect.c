/* bisect: how the search goes on from ends that differ, and what it answers. */
#include "tests/unit/bisect_world.h"

static int most_pairs(size_t commits)
{
    return (int)(2 * log2((double)commits)) + 4;
}

/* The bar: every seed finds it, within the bound. Lines of 12, 40 and 150 commits. */
TEST(the_commit_is_found_in_noise)
{
    static const size_t lengths[] = {12, 40, 150};
    for (size_t l = 0; l < COUNT(lengths); l++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            struct world w = {.count = lengths[l] + 1, .slower = 0.08, .noise = 0.015, .drift = 0.002};
            w.culprit = 1 + (size_t)(seed * 7919 % lengths[l]);
            search(&w, &tried, seed);
            assert_found(w.culprit);
            assert_true(tried.search.pairs <= most_pairs(lengths[l]));
        }
}

/* 1, 2 and 3 follow each other; 4, 5 and 6 are a branch from the good end; 7 merges the two. */
static const struct world merged = {
    .count = 9,
    .slower = 0.08,
    .noise = 0.005,
    .parents = {[2] = {1}, [3] = {2}, [5] = {4}, [6] = {5}, [7] = {3, 6}, [8] = {7}}};

/* A fast commit of the branch clears the branch, not the commits that merely come before it in the list. */
TEST(a_merged_branch_is_not_blamed)
{
    for (size_t culprit = 1; culprit <= 8; culprit++) {
        struct world w = merged;
        w.culprit = culprit;
        for (size_t i = 4; i <= 6; i++)
            w.fast[i] = culprit <= 3;
        search(&w, &tried, culprit);
        assert_found(culprit);
        assert_int_equal(tried.end.last, culprit);
    }
}

TEST(a_range_leaves_out_cleared_branches)
{
    bool suspects[BISECT_COMMITS_MAX];
    struct world w = merged;
    w.culprit = 2;
    w.fast[4] = w.fast[5] = w.fast[6] = true;
    w.broken[1] = w.broken[2] = true;
    search(&w, &tried, 1);
    assert_int_equal(tried.end.outcome, BISECT_RANGE);
    assert_int_equal(tried.end.suspects, 3);
    assert_int_equal(bisect_suspects(&tried.search, suspects), 3);
    for (size_t i = 0; i < w.count; i++)
        assert_int_equal(suspects[i], i >= 1 && i <= 3);
    assert_int_equal(bisect_good_before(&tried.search, tried.end.last), 0);
}

/* 4, 5 and 6 are of a branch that left before the good end, which made things faster: they are slow, and none
 * of them made it so. Of a slow merge, it stays open whether it is slow because of them. */
TEST(a_branch_that_was_slow_before_is_not_blamed)
{
    for (size_t culprit = 1; culprit <= 8; culprit += culprit == 3 ? 4 : 1) {
        struct world w = merged;
        w.culprit = culprit;
        w.forked = 4;
        w.slow[4] = w.slow[5] = w.slow[6] = true;
        search(&w, &tried, culprit);
        assert_int_equal(tried.end.outcome, culprit == 7 ? BISECT_RANGE : BISECT_FOUND);
        assert_int_equal(tried.end.first, culprit == 7 ? 4 : culprit);
        assert_int_equal(tried.end.last, culprit);
    }
}

/* The branch was fast when it left, so it is a commit of it that is named. */
TEST(a_branch_from_before_is_searched)
{
    struct world w = merged;
    w.culprit = 6;
    w.forked = 4;
    search(&w, &tried, 6);
    assert_found(6);
}

/* The slow commit changed the host's code; a later one the device code, without an effect. */
TEST(the_host_is_to_blame)
{
    for (size_t culprit = 1; culprit <= 12; culprit++) {
        struct world w = {.count = 13, .culprit = culprit, .slower = 0.08, .noise = 0.005, .of_device = true};
        for (size_t i = 0; i < w.count; i++)
            w.code[i] = i < 9 ? "old" : "new";
        search(&w, &tried, culprit);
        assert_found(culprit);
        assert_true(tried.search.pairs <= most_pairs(12));
    }
}

/* With so much noise there may be no answer, or a range: hardly ever another commit. */
TEST(much_noise_names_no_other_commit)
{
    int wrong = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world w = {.count = 41, .slower = 0.08, .noise = 0.05, .drift = 0.002};
        w.culprit = 1 + (size_t)(seed * 7919 % 40);
        search(&w, &tried, seed);
        if (tried.end.outcome == BISECT_FOUND || tried.end.outcome == BISECT_RANGE)
            wrong += tried.end.first > w.culprit || tried.end.last < w.culprit;
    }
    assert_true(wrong <= 1);
}

/* The median of some repetitions is that of the one state or of the other. */
TEST(two_states_name_no_other_commit)
{
    static const double states[] = {0.04, 0.1};
    for (size_t i = 0; i < COUNT(states); i++) {
        int wrong = 0;
        for (uint64_t seed = 1; seed <= 100; seed++) {
            struct world w = {.count = 41, .slower = 0.08, .noise = 0.001, .states = states[i]};
            w.culprit = 1 + (size_t)(seed * 7919 % 40);
            search(&w, &tried, seed);
            if (tried.end.outcome == BISECT_FOUND || tried.end.outcome == BISECT_RANGE)
                wrong += tried.end.first > w.culprit || tried.end.last < w.culprit;
        }
        assert_true(wrong <= 2);
    }
}

/* Of several variants, the one that became slower has the same code at both ends: no code says which is
 * slow. */
TEST(a_variant_of_one_code_is_searched_without_codes)
{
    struct world w = {.count = 13, .culprit = 4, .slower = 0.08, .noise = 0.005};
    start(&w, &tried, 1);
    build(&w, &tried, 0);
    build(&w, &tried, 12);
    measure(&w, &tried, 12);
    bisect_narrowed(&tried.search, "same", "same");
    for (size_t i = 1; i < 12; i++)
        w.code[i] = "same";
    finish(&w, &tried);
    assert_found(4);
}

/* Failing once proves nothing: such a commit is tried again before the answer is a range because of it. */
TEST(a_commit_that_failed_once_is_measured_again)
{
    struct world w = {.count = 13, .culprit = 8, .slower = 0.08, .noise = 0.005};
    w.failing[7] = 1;
    search(&w, &tried, 3);
    assert_found(8);
    assert_int_equal(tried.items[7].mark, BISECT_GOOD);
    assert_int_equal(tried.items[7].rounds, 2);
    w.failing[6] = 1; /* the first in the middle, and soon it does not matter any more */
    search(&w, &tried, 3);
    assert_int_equal(tried.end.first, 8);
    assert_int_equal(tried.items[6].mark, BISECT_SKIPPED);
    assert_int_equal(tried.items[6].rounds, 1);
}

TEST(a_commit_that_keeps_failing_is_skipped)
{
    struct world w = {.count = 13, .culprit = 8, .slower = 0.08, .noise = 0.005};
    w.failing[7] = 100;
    search(&w, &tried, 3);
    assert_int_equal(tried.end.outcome, BISECT_RANGE);
    assert_int_equal(tried.end.first, 7);
    assert_int_equal(tried.end.last, 8);
    assert_int_equal(tried.items[7].mark, BISECT_SKIPPED);
    assert_int_equal(tried.items[7].basis, BISECT_BY_TESTS);
    assert_int_equal(tried.items[7].rounds, 2);
}

/* Evidence that would suffice elsewhere says why it does not. */
TEST(a_step_near_half_says_so)
{
    struct world w = {.count = 13, .culprit = 8, .slower = 0.08, .noise = 0.005};
    struct delta d = {.verdict = VERDICT_REGRESSED, .base.n = 6, .now.n = 6};
    start(&w, &tried, 3);
    d.estimate.method = METHOD_BOOTSTRAP;
    d.estimate.p = 0.001;
    d.estimate.ratio = 1.041;
    d.estimate.threshold = 0.04;
    d.estimate.noise_floor = 0.002;
    bisect_measured(&tried.search, 6, &d);
    assert_int_equal(tried.items[6].mark, BISECT_OPEN);
    assert_int_equal(d.doubts.lack, LACK_NEAR_HALF);
}

TEST(a_commit_that_does_not_build_is_skipped)
{
    struct world w = {
        .count = 13, .culprit = 8, .slower = 0.08, .noise = 0.015, .broken = {[6] = true, [7] = true}};
    search(&w, &tried, 3);
    assert_int_equal(tried.end.outcome, BISECT_RANGE); /* the one before the culprit cannot be tried */
    assert_int_equal(tried.end.first, 6);
    assert_int_equal(tried.end.last, 8);
    assert_int_equal(tried.items[6].basis, BISECT_BY_BUILD);
    w.culprit = 10;
    search(&w, &tried, 3);
    assert_found(10);
}

TEST(undecided_commits_widen_the_range)
{
    struct world w = {
        .count = 13, .culprit = 7, .slower = 0.08, .noise = 0.015, .noisy = {[6] = 0.2, [7] = 0.2}};
    search(&w, &tried, 4);
    assert_int_equal(tried.items[6].basis, BISECT_BY_UNDECIDED);
    assert_int_equal(tried.items[6].rounds, 3);
    assert_int_equal(tried.end.outcome, BISECT_RANGE);
    assert_true(tried.end.first <= 7 && tried.end.last >= 7);
    assert_true(tried.search.pairs <= most_pairs(12));
}

/* A kernel of 1 us. The first of two commits makes more than half of the change, 0.09 of 0.15 us: less than
 * what matters elsewhere. */
TEST(a_step_may_be_smaller_than_what_matters_elsewhere)
{
    struct world w = {
        .count = 13, .culprit = 4, .slower = 0.09, .second = 9, .again = 0.06, .time = 1e-6, .noise = 0.001};
    assert_true(w.slower * w.time < metric_info(METRIC_PREFILL_S)->least);
    search(&w, &tried, 1);
    assert_found(4);
}

TEST(the_same_code_is_decided_without_measuring)
{
    struct world w = {.count = 13, .culprit = 9, .slower = 0.08, .noise = 0.015};
    for (size_t i = 0; i < w.count; i++)
        w.code[i] = i < w.culprit ? "before" : "after";
    search(&w, &tried, 7);
    assert_found(9);
    assert_int_equal(tried.search.pairs, 1); /* the ends alone */
    assert_int_equal(tried.items[8].same_as, 0);
}

/* The marks are the whole state: a search made anew before every step gives the same answer. */
TEST(an_interrupted_search_goes_on)
{
    static struct tried whole, parts;
    struct world w = {.count = 41, .culprit = 23, .slower = 0.08, .noise = 0.015, .broken = {[20] = true}};
    search(&w, &whole, 11);
    start(&w, &parts, 11);
    while (parts.end = bisect_next(&parts.search), parts.end.task != BISECT_END) {
        struct bisect_search again;
        int pairs = parts.search.pairs;
        bisect_init(&again, parts.items, w.count, 3);
        again.pairs = pairs;
        parts.search = again;
        if (parts.end.task == BISECT_BUILD)
            build(&w, &parts, parts.end.commit);
        else
            measure(&w, &parts, parts.end.commit);
    }
    assert_int_equal(parts.end.first, whole.end.first);
    assert_int_equal(parts.search.pairs, whole.search.pairs);
    assert_int_equal(parts.builds, whole.builds);
}

TEST(two_commits_are_a_line)
{
    struct world w = {.count = 2, .culprit = 1, .slower = 0.08, .noise = 0.005};
    search(&w, &tried, 1);
    assert_found(1);
}

TEST(names_are_read_back)
{
    enum bisect_mark m;
    enum bisect_basis b;
    assert_true(bisect_mark_from_name(bisect_mark_name(BISECT_SKIPPED), &m) && m == BISECT_SKIPPED);
    assert_true(bisect_basis_from_name(bisect_basis_name(BISECT_BY_CODE), &b) && b == BISECT_BY_CODE);
    assert_string_equal(bisect_outcome_name(BISECT_NOT_REPRODUCIBLE), "not_reproducible");
    assert_string_equal(bisect_outcome_name(BISECT_UNDECIDED), "undecided");
    assert_false(bisect_mark_from_name("unheard", &m));
}
