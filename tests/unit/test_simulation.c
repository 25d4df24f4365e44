/* The whole gate on simulated nights, with a fixed seed and a noise between nights and within them: its
 * false-alarm rate, and what it finds. Each night of a cell has its own level (between-night spread), and its
 * repetitions scatter around it.
 */
#include "tests/unit/results_support.h"

#include "results/judge/compare.h"
#include "results/judge/confirm.h"
#include "results/stats/stats.h"

enum { GROUPS = 40, CELLS = 100, NIGHTS = 20, REPETITIONS = 3 };

struct model {
    double between; /* relative spreads */
    double within;
    double slowdown; /* of the cells that are slower */
    int slower;      /* how many of a hundred */
    bool confirm;
};

struct tally {
    int flagged_slow, slow; /* cells that are slower, and those of them that were called regressed */
    int flagged_same, same;
    int improved;
};

static double night_level(const struct model *m, int cell, double factor, struct stats_rng *rng)
{
    return (1 + 0.1 * cell) * factor * (1 + m->between * stats_rng_normal(rng));
}

static double shot(const struct model *m, double level, struct stats_rng *rng)
{
    return level * (1 + m->within * stats_rng_normal(rng));
}

static struct history simulate_history(const struct model *m, struct stats_rng *rng)
{
    struct history h = {.series = calloc(CELLS, sizeof *h.series), .count = CELLS, .nights = NIGHTS};
    for (int i = 0; i < CELLS; i++) {
        struct history_point *points = calloc(NIGHTS, sizeof *points);
        for (int n = 0; n < NIGHTS; n++) {
            double x[REPETITIONS], level = night_level(m, i, 1, rng);
            for (int r = 0; r < REPETITIONS; r++)
                x[r] = shot(m, level, rng);
            points[n] = (struct history_point){
                .run_key = n + 1, .median = stats_median(x, REPETITIONS), .n = REPETITIONS};
        }
        h.series[i] = (struct history_series){"v", 1000 + i, METRIC_PREFILL_S, points, NIGHTS};
    }
    return h;
}

static double factor_of(const struct model *m, int cell)
{
    return cell < m->slower ? 1 + m->slowdown : 1;
}

/* What tonight's conditions do to a cell is the same for all runs of the session. */
static struct run_data simulate_run(const struct model *m, const double *conditions, bool changed,
                                    struct stats_rng *rng)
{
    struct draft d;
    draft_night(&d, 100);
    for (int i = 0; i < CELLS; i++)
        for (int r = 0; r < REPETITIONS; r++)
            draft_shot(&d, "v", 1000 + i, r + 1,
                       shot(m, conditions[i] * (changed ? factor_of(m, i) : 1), rng));
    return run_of_draft(&d);
}

/* A B B A of one session later the same night. */
static void confirm(const struct model *m, struct comparison *c, const struct compare_options *o,
                    struct stats_rng *rng)
{
    struct err err = {0};
    double conditions[CELLS];
    for (int i = 0; i < CELLS; i++)
        conditions[i] = night_level(m, i, 1, rng);
    struct run_data a1 = simulate_run(m, conditions, false, rng), b1 = simulate_run(m, conditions, true, rng),
                    b2 = simulate_run(m, conditions, true, rng), a2 = simulate_run(m, conditions, false, rng);
    const struct run_data *const base[] = {&a1, &a2}, *const now[] = {&b1, &b2};
    assert_ok(confirm_judge(c, base, 2, now, 2, o, &err), &err);
    run_data_release(&a1);
    run_data_release(&b1);
    run_data_release(&b2);
    run_data_release(&a2);
}

static void count(const struct model *m, const struct comparison *c, struct tally *out)
{
    assert_int_equal(c->count, CELLS);
    for (size_t i = 0; i < c->count; i++) {
        bool slow = c->deltas[i].context - 1000 < m->slower,
             flagged = c->deltas[i].verdict == VERDICT_REGRESSED;
        out->slow += slow;
        out->same += !slow;
        out->flagged_slow += slow && flagged;
        out->flagged_same += !slow && flagged;
        out->improved += c->deltas[i].verdict == VERDICT_IMPROVED;
    }
}

static struct tally simulate(const struct model *m, uint64_t seed)
{
    const struct compare_options o = compare_defaults();
    struct tally out = {0};
    struct stats_rng rng;
    stats_rng_seed(&rng, seed);
    for (int g = 0; g < GROUPS; g++) {
        struct err err = {0};
        struct comparison c;
        double conditions[CELLS];
        struct history h = simulate_history(m, &rng);
        for (int i = 0; i < CELLS; i++)
            conditions[i] = night_level(m, i, 1, &rng);
        struct run_data now = simulate_run(m, conditions, true, &rng);
        assert_ok(compare_runs(NULL, &now, &h, &o, &c, &err), &err);
        if (m->confirm)
            confirm(m, &c, &o, &rng);
        count(m, &c, &out);
        comparison_release(&c);
        run_data_release(&now);
        history_release(&h);
    }
    print_message("between %.1f %%, within %.1f %%%s: %d of %d still cells called regressed, %d of %d slower "
                  "ones found\n",
                  100 * m->between, 100 * m->within, m->confirm ? ", confirmed" : "", out.flagged_same,
                  out.same, out.flagged_slow, out.slow);
    return out;
}

static void a_still_night_raises_no_alarm(void **state)
{
    (void)state;
    const struct model m = {.between = 0.015, .within = 0.007};
    struct tally o = simulate(&m, 1);
    assert_int_equal(o.same, 4000);
    assert_true(o.flagged_same <= 24);
    assert_true(o.improved <= 24);
}

static void confirmation_leaves_no_false_alarm(void **state)
{
    (void)state;
    const struct model m = {.between = 0.015, .within = 0.007, .confirm = true};
    assert_int_equal(simulate(&m, 1).flagged_same, 0);
}

static void slow_downs_on_a_quiet_node_are_found(void **state)
{
    (void)state;
    /* All of them, a few, and one of a hundred: the control of false discoveries must not hide the lonely
     * one. */
    const int slower[] = {100, 5, 1};
    const double found[] = {0.99, 0.98, 0.95};
    for (size_t i = 0; i < COUNT(slower); i++) {
        struct model m = {.between = 0.005, .within = 0.007, .slowdown = 0.05, .slower = slower[i]};
        struct tally o = simulate(&m, 2);
        assert_true(o.flagged_slow >= found[i] * o.slow);
        assert_true(o.flagged_same <= 0.006 * o.same);
        m.confirm = true;
        o = simulate(&m, 3);
        assert_true(o.flagged_slow >= found[i] * o.slow);
        assert_int_equal(o.flagged_same, 0);
    }
}

static void slow_downs_on_a_noisy_node_are_partly_found(void **state)
{
    (void)state;
    struct model m = {.between = 0.015, .within = 0.007, .slowdown = 0.05, .slower = 100};
    struct tally o = simulate(&m, 4);
    assert_true(o.flagged_slow >= 0.25 * o.slow);
    m.slowdown = 0.10;
    o = simulate(&m, 5);
    assert_true(o.flagged_slow >= 0.95 * o.slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_still_night_raises_no_alarm),
        cmocka_unit_test(confirmation_leaves_no_false_alarm),
        cmocka_unit_test(slow_downs_on_a_quiet_node_are_found),
        cmocka_unit_test(slow_downs_on_a_noisy_node_are_partly_found),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
