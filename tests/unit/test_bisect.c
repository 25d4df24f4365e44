/* bisect: the search alone, driven by a simulated measurer that plays noise, drift and commits that do not
 * build. */
#include "results/judge/compare.h"
#include "results/judge/search/bisect.h"
#include "results/judge/turns.h"
#include "results/stats/stats.h"
#include "tests/unit/support.h"

enum { MANY = 200, REPETITIONS = 3, ROUND = 2 * REPETITIONS, VALUES = ROUND * 10 };

/* What the simulated node and repository are like. */
struct world {
    size_t count;       /* commits, both ends included */
    size_t culprit;     /* from here on slower; count: no commit is */
    double slower;      /* by how much */
    double time;        /* of the good end, s; 0: 1 */
    size_t second;      /* from here on `again` slower, too; 0: no commit is */
    double again;       /* by how much more */
    double noise;       /* relative, of one repetition */
    double states;      /* every repetition is in one of two states at random, this much apart; 0: in one */
    double drift;       /* relative, from one turn to the next */
    bool broken[MANY];  /* does not build */
    double noisy[MANY]; /* noise of this commit's measurements; 0: as everywhere */
    const char *code[MANY];  /* NULL: every commit has its own */
    bool of_device;          /* the codes are of device code */
    bool fast[MANY];         /* on a branch that does not have the culprit */
    size_t forked;           /* begins a branch that left before the good end; 0: none does */
    bool slow[MANY];         /* as slow as that branch was before the good end made things faster */
    size_t parents[MANY][2]; /* 0: none */
    int failing[MANY];       /* so many rounds in which all tests of this commit fail; 0 is the good end */
    struct stats_rng rng;
    double now; /* the node's speed at present */
};

struct tried {
    struct bisect_commit items[MANY];
    struct bisect_search search;
    struct bisect_step end;
    struct delta ends;
    double base[MANY][VALUES], value[MANY][VALUES];
    size_t values[MANY]; /* of each side */
    int builds;
};

static struct tried tried; /* by the test that runs */

static void assert_found(size_t culprit)
{
    assert_int_equal(tried.end.outcome, BISECT_FOUND);
    assert_int_equal(tried.end.first, culprit);
}

static void measure_turn(struct world *w, size_t commit, double noise, double *out)
{
    bool slow = w->slow[commit] || (commit >= w->culprit && !w->fast[commit]);
    double time = 1 + (slow ? w->slower : 0);
    time = (time + (w->second > 0 && commit >= w->second ? w->again : 0)) * (w->time > 0 ? w->time : 1);
    for (int i = 0; i < REPETITIONS; i++)
        out[i] = time * w->now * (1 + noise * stats_rng_normal(&w->rng)) *
                 (w->states > 0 && stats_rng_unit(&w->rng) < 0.5 ? 1 + w->states : 1);
    w->now *= 1 + w->drift;
}

/* One round in which one side's tests fail. Its values count in no later round. */
static void fail_round(struct tried *t, size_t commit, size_t failing)
{
    struct delta d = {.verdict = VERDICT_NOISY, .estimate.ratio = NAN, .base.n = ROUND, .now.n = ROUND};
    *(failing == 0 ? &d.base.n : &d.now.n) = 0;
    bisect_measured(&t->search, commit, &d);
}

static bool fails(struct world *w, size_t commit)
{
    return w->failing[commit] > 0 && w->failing[commit]-- > 0;
}

/* To the one variant that there is. */
static void narrow(struct tried *t)
{
    const struct bisect_commit good = t->items[0], bad = t->items[t->search.count - 1];
    bisect_narrowed(&t->search, good.code, bad.code);
}

/* One round, A B B A, and its verdict. */
static void measure(struct world *w, struct tried *t, size_t commit)
{
    size_t failing = fails(w, 0) ? 0 : commit;
    if (failing == 0 || fails(w, commit)) {
        fail_round(t, commit, failing);
        return;
    }
    size_t n = t->values[commit];
    double noise = w->noisy[commit] > 0 ? w->noisy[commit] : w->noise;
    measure_turn(w, 0, noise, &t->base[commit][n]);
    measure_turn(w, commit, noise, &t->value[commit][n]);
    measure_turn(w, commit, noise, &t->value[commit][n + REPETITIONS]);
    measure_turn(w, 0, noise, &t->base[commit][n + REPETITIONS]);
    t->values[commit] += ROUND;
    const struct pair v = {
        .base = t->base[commit], .now = t->value[commit], .base_n = n + ROUND, .now_n = n + ROUND};
    struct compare_options plain = compare_defaults(), o = bisect_end_options(&plain);
    struct delta d = {0};
    bool ends = commit == w->count - 1;
    if (!ends)
        o = bisect_options(&o, &t->ends);
    turns_judge_values(&v, METRIC_PREFILL_S, &o, &d);
    if (ends) {
        bisect_doubt(&d, 1);
        t->ends = d;
    }
    bisect_measured(&t->search, commit, &d);
    if (ends && d.verdict == VERDICT_REGRESSED)
        narrow(t);
}

static void build(struct world *w, struct tried *t, size_t commit)
{
    char code[16];
    snprintf(code, sizeof code, "code%zu", commit);
    t->builds++;
    t->search.items[commit].of_device = w->of_device;
    bisect_built(&t->search, commit, w->code[commit] ? w->code[commit] : code,
                 w->broken[commit] ? "does not build" : NULL);
}

static void start(struct world *w, struct tried *t, uint64_t seed)
{
    *t = (struct tried){.builds = 0};
    w->now = 1;
    stats_rng_seed(&w->rng, seed);
    for (size_t i = 0; i < w->count; i++) {
        snprintf(t->items[i].id, sizeof t->items[i].id, "%040zu", i);
        t->items[i].forked = i > 0 && i == w->forked;
        for (int p = 0; p < 2 && w->parents[i][p] > 0; p++)
            t->items[i].parents[t->items[i].n_parents++] = w->parents[i][p];
    }
    bisect_init(&t->search, t->items, w->count, 3);
}

static void finish(struct world *w, struct tried *t)
{
    for (int steps = 0; steps < 4 * MANY; steps++) {
        t->end = bisect_next(&t->search);
        if (t->end.task == BISECT_END)
            return;
        if (t->end.task == BISECT_BUILD)
            build(w, t, t->end.commit);
        else
            measure(w, t, t->end.commit);
    }
    fail_msg("the search does not end");
}

static void search(struct world *w, struct tried *t, uint64_t seed)
{
    start(w, t, seed);
    finish(w, t);
}

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

TEST(an_end_that_does_not_build_stops_the_search)
{
    struct world w = {.count = 13, .culprit = 8, .broken = {[12] = true}};
    search(&w, &tried, 3);
    assert_int_equal(tried.end.outcome, BISECT_STOPPED);
    assert_int_equal(tried.end.first, 12);
    assert_int_equal(tried.search.pairs, 0);
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
