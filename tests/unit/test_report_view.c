/* The order of rows, the standing of a cell against the reference, and which scaling steps are flagged. */
#include "reports/model/view.h"
#include "reports/words/reason.h"
#include "results/stats/stats.h"
#include "tests/unit/results_support.h"

static const struct cell *cell_with(enum status status)
{
    static struct cell c;
    c = (struct cell){.status = status};
    return &c;
}

/* Of a variant that is so many times as fast as the reference. */
static enum beside standing_of_factor(double factor, double error, double freedom)
{
    const struct variant_delta d = {
        .variant = 1,
        .reference = 0,
        .factor = factor,
        .estimate = {.ratio = 1 / factor, .error = error, .freedom = freedom, .alpha = 0.05, .p = NAN}};
    return beside_of(cell_with(STATUS_OK), &d);
}

TEST(a_cell_within_the_threshold_is_the_same)
{
    assert_int_equal(standing_of_factor(1.04, NAN, NAN), BESIDE_SAME);
    assert_int_equal(standing_of_factor(1.06, NAN, NAN), BESIDE_FAST);
    assert_int_equal(standing_of_factor(0.94, NAN, NAN), BESIDE_SLOW);
}

TEST(the_error_of_few_values_widens_the_threshold)
{
    assert_int_equal(standing_of_factor(1.2, 0.05, 18), BESIDE_FAST);
    assert_int_equal(standing_of_factor(1.2, 0.05, 2), BESIDE_UNSURE);
}

/* Two repetitions a side that vary by a third: a factor of four is still a factor of four, either way round.
 */
TEST(a_table_and_compare_within_agree)
{
    static const double fast[] = {0.9, 1.2}, slow[] = {3.6, 4.8};
    const struct compare_options o = compare_defaults();
    for (int reference = 0; reference < 2; reference++) {
        AUTO(comparison_release) struct comparison c = {0};
        struct draft d;
        draft_night(&d, 1);
        for (int i = 0; i < 2; i++) {
            draft_shot(&d, "fast", 4096, i + 1, fast[i]);
            draft_shot(&d, "slow", 4096, i + 1, slow[i]);
        }
        AUTO(run_data_release) struct run_data run = run_of_draft(&d);
        size_t other = reference == 0;
        compare_within(&run, (size_t)reference, &o, &c);
        struct variant_delta *vs = compare_variants(&run, (size_t)reference, METRIC_PREFILL_S);
        enum beside beside = beside_of(&run.cells[other], &vs[other]);
        assert_int_equal(beside, reference ? BESIDE_FAST : BESIDE_SLOW);
        assert_int_equal(c.deltas[0].verdict, reference ? VERDICT_IMPROVED : VERDICT_REGRESSED);
        assert_int_equal(c.verdicts[c.deltas[0].verdict], 1);
        assert_int_equal(c.verdicts[VERDICT_NOISY], 0);
        free(vs);
    }
}

/* The first variant's and the second one's values, the verdict on the second. */
static enum verdict verdict_of(const double *base, size_t n_base, const double *now, size_t n_now)
{
    struct draft d;
    draft_night(&d, 1);
    for (size_t i = 0; i < n_base; i++)
        draft_shot(&d, "base", 4096, (int)i + 1, base[i]);
    for (size_t i = 0; i < n_now; i++)
        draft_shot(&d, "now", 4096, (int)i + 1, now[i]);
    struct run_data run = run_of_draft(&d);
    struct variant_delta pair = compare_pair(&run, 1, 0, 4096, METRIC_PREFILL_S);
    run_data_release(&run);
    return within_verdict(&pair, 0.05);
}

/* Two variants of the same speed whose tests are in one of two states, 7 % apart, at random: the medians are
 * of either, which their spread does not tell, but ranks do. */
TEST(variants_in_two_states_seldom_seem_to_differ)
{
    enum { CASES = 1000, MOST = 10 };
    static const size_t repetitions[] = {4, 5, 10};
    struct stats_rng rng;
    stats_rng_seed(&rng, 21);
    for (size_t k = 0; k < sizeof repetitions / sizeof *repetitions; k++) {
        int differ = 0;
        for (int t = 0; t < CASES; t++) {
            double x[2][MOST];
            for (size_t i = 0; i < 2 * repetitions[k]; i++)
                x[i % 2][i / 2] =
                    (stats_rng_normal(&rng) < 0 ? 1 : 1.07) * (1 + 0.002 * stats_rng_normal(&rng));
            enum verdict v = verdict_of(x[0], repetitions[k], x[1], repetitions[k]);
            differ += v == VERDICT_IMPROVED || v == VERDICT_REGRESSED;
        }
        assert_in_range(differ, 0, 70);
    }
}

/* Two variants of the same speed, measured n times each, with a noise of 4 %, which exceeds the threshold by
 * chance: they may be called different in one case of twenty. */
TEST(equal_variants_seldom_seem_to_differ)
{
    enum { CASES = 2000 };
    static const size_t repetitions[] = {2, 3, 5};
    struct stats_rng rng;
    stats_rng_seed(&rng, 7);
    for (size_t k = 0; k < 3; k++) {
        int wrong = 0;
        for (int i = 0; i < CASES; i++) {
            double values[2][5];
            for (int side = 0; side < 2; side++)
                for (size_t j = 0; j < repetitions[k]; j++)
                    values[side][j] = exp(0.04 * stats_rng_normal(&rng));
            enum verdict v = verdict_of(values[0], repetitions[k], values[1], repetitions[k]);
            wrong += v == VERDICT_IMPROVED || v == VERDICT_REGRESSED;
        }
        assert_in_range(wrong, 1, CASES / 20);
    }
}

/* A single value does not tell how far it may lie from the next one; those of the other variant do. */
TEST(a_single_value_varies_as_the_other_side_does)
{
    static const double steady[] = {1.0, 1.01, 0.99}, noisy[] = {1.0, 1.3, 0.8}, one[] = {0.9};
    assert_int_equal(verdict_of(steady, 3, one, 1), VERDICT_IMPROVED);
    assert_int_equal(verdict_of(noisy, 3, one, 1), VERDICT_NOISY);
    assert_int_equal(verdict_of(one, 1, noisy, 3), VERDICT_NOISY);
    assert_int_equal(verdict_of(one, 1, steady, 1), VERDICT_REGRESSED);
}

/* There is no earlier state that anything could have been broken from. */
TEST(within_a_run_nothing_was_before)
{
    const struct compare_options o = compare_defaults();
    struct comparison c;
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "works", 4096, 1, 1.0);
    draft_shot(&d, "fails", 4096, 1, 1.0)->status = STATUS_CRASH;
    draft_shot(&d, "works", 8192, 1, 1.0);
    AUTO(run_data_release) struct run_data run = run_of_draft(&d);
    compare_within(&run, 0, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_BROKEN);
    assert_string_equal(verdict_reason(&c.deltas[0], REPORT_EN).s, "OK in the reference, here CRASH");
    comparison_release(&c);
    compare_within(&run, 1, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_FIXED);
    assert_string_equal(verdict_reason(&c.deltas[0], REPORT_EN).s, "CRASH in the reference, here OK");
    assert_int_equal(c.deltas[1].verdict, VERDICT_NEW);
    assert_string_equal(verdict_reason(&c.deltas[1], REPORT_EN).s, "not in the reference, here OK");
    comparison_release(&c);
}

TEST(a_cell_that_is_not_ok_has_no_speed)
{
    const struct variant_delta d = {.variant = 1, .reference = 0, .factor = 2, .factor_error = NAN};
    const struct variant_delta none = {.variant = 1, .reference = 0, .factor = NAN};
    const struct variant_delta self = {.variant = 0, .reference = 0, .factor = 1};
    assert_int_equal(beside_of(cell_with(STATUS_HANG), &d), BESIDE_NOT_OK);
    assert_int_equal(beside_of(cell_with(STATUS_OK), &none), BESIDE_NONE);
    assert_int_equal(beside_of(cell_with(STATUS_OK), &self), BESIDE_REFERENCE);
}

TEST(rows_are_ordered_by_context_then_by_plan)
{
    struct cell cells[] = {{.variant = 0, .context = 512},
                           {.variant = 0, .context = 256},
                           {.variant = 1, .context = 512},
                           {.variant = 1, .context = 256}};
    const struct run_data run = {.cells = cells, .n_cells = COUNT(cells)};
    static const size_t expected[] = {1, 3, 0, 2};
    size_t *order = cells_by_context(&run);
    assert_memory_equal(order, expected, sizeof expected);
    free(order);
}

TEST(only_steps_beyond_the_tolerance_are_flagged)
{
    const struct scaling_row within = {.step = 4.3, .step_expected = 4, .step_low = 4.3},
                             beyond = {.step = 4.5, .step_expected = 4, .step_low = 4.5},
                             spread = {.step = 4.5, .step_expected = 4, .step_low = 3.9},
                             first = {.step = NAN, .step_expected = NAN, .step_low = NAN};
    assert_int_equal(scaling_flag_of(&within), SCALING_NONE);
    assert_int_equal(scaling_flag_of(&beyond), SCALING_ABOVE);
    assert_int_equal(scaling_flag_of(&spread), SCALING_UNSURE);
    assert_int_equal(scaling_flag_of(&first), SCALING_NONE);
}

/* Two contexts of two repetitions each, of which the flag is asked. */
static enum scaling_flag flag_of(const double at_2048[2], const double at_4096[2])
{
    struct scaling_set set;
    struct draft d;
    draft_night(&d, 1);
    for (int i = 0; i < 2; i++) {
        draft_shot(&d, "v1", 2048, i + 1, at_2048[i]);
        draft_shot(&d, "v1", 4096, i + 1, at_4096[i]);
    }
    struct run_data run = run_of_draft(&d);
    scaling_of_run(&run, &set);
    assert_int_equal(set.count, 1);
    assert_int_equal(set.items[0].count, 2);
    enum scaling_flag flag = scaling_flag_of(&set.items[0].rows[1]);
    scaling_set_release(&set);
    run_data_release(&run);
    return flag;
}

TEST(a_step_that_the_spread_explains_is_inconclusive)
{
    assert_int_equal(flag_of((double[]){0.99, 1.01}, (double[]){4.95, 5.05}), SCALING_ABOVE);
    assert_int_equal(flag_of((double[]){0.80, 1.20}, (double[]){4.60, 5.40}), SCALING_UNSURE);
    assert_int_equal(flag_of((double[]){0.80, 1.20}, (double[]){3.90, 4.10}), SCALING_NONE);
}
