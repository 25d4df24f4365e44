/* within: what small differences are worth, between the variants of a run and between two runs: the spread of
 * the repetitions says it, and a metric's least difference only where there is none. */
#include "tests/unit/results_support.h"

#include "reports/tables/bench.h"
#include "reports/tables/tables.h"
#include "reports/words/reason.h"
#include "results/judge/within.h"

struct shots {
    const double *values;
    int count;
};

/* The variants "a" and "b" at context 1, with these wall times. */
static struct run_data two_commands(int night, struct shots a, struct shots b)
{
    struct draft d;
    draft_night(&d, night);
    for (int v = 0; v < 2; v++) {
        struct shots s = v ? b : a;
        for (int i = 0; i < s.count; i++) {
            struct run_test *t = draft_shot(&d, v ? "b" : "a", 1, i + 1, 1);
            t->value[METRIC_PREFILL_S] = NAN;
            t->value[METRIC_WALL_S] = s.values[i];
        }
    }
    return run_of_draft(&d);
}

/* The row of "b" in the table of bench, and the reason beside its verdict. */
static enum verdict bench_says(struct shots a, struct shots b, const char *row, const char *reason)
{
    const struct compare_options o = compare_defaults();
    const char *commands[] = {"./a", "./b"};
    AUTO(run_data_release) struct run_data run = two_commands(0, a, b);
    AUTO(comparison_release) struct comparison c = {0};
    AUTO(table_release) struct table t = {0};
    compare_within(&run, 0, &o, &c);
    const struct bench_table table = {.run = &run, .comparison = &c, .commands = commands, .n_commands = 2};
    bench_table_fill(&table, &t);
    const struct delta *d = &c.deltas[0];
    assert_int_equal(d->metric, METRIC_WALL_S);
    assert_string_equal(t.cells[t.n_cells - 2].text, row); /* the command is last */
    if (!strstr(verdict_reason(d, REPORT_EN).s, reason))
        fail_msg("'%s' lacks '%s'", verdict_reason(d, REPORT_EN).s, reason);
    return d->verdict;
}

static const double short_a[] = {0.0029, 0.00292, 0.00288, 0.0029, 0.00291},
                    short_b[] = {0.0052, 0.00523, 0.0052, 0.00518, 0.0052};

TEST(milliseconds_count_where_processes_start_alike)
{
    assert_int_equal(bench_says((struct shots){short_a, 5}, (struct shots){short_b, 5}, "slower by 2.300 ms",
                                "0.56x the speed of the reference"),
                     VERDICT_REGRESSED);
    assert_int_equal(bench_says((struct shots){short_b, 5}, (struct shots){short_a, 5}, "faster by 2.300 ms",
                                "1.79x the speed of the reference"),
                     VERDICT_IMPROVED);
    const double wide[] = {0.0029, 0.0072, 0.0035, 0.0092, 0.0052};
    assert_int_equal(
        bench_says((struct shots){short_a, 5}, (struct shots){wide, 5}, "inconclusive", "x the speed"),
        VERDICT_NOISY);
}

TEST(a_floor_that_hides_a_change_says_so)
{
    assert_int_equal(
        bench_says(
            (struct shots){short_a, 1}, (struct shots){short_b, 1}, "not judged: +2.300 ms, up to 5 ms",
            "; +2.300 ms, of which up to 5 ms may be chance, as no repetitions show how far it varies"),
        VERDICT_NOISY);
    const double same[] = {0.0029}, near_[] = {0.00295};
    assert_int_equal(bench_says((struct shots){same, 1}, (struct shots){near_, 1}, "no difference",
                                "up to 5 ms may be chance"),
                     VERDICT_UNCHANGED);
}

/* Of which one is the compilation of another kernel, for example. */
TEST(one_outlier_leaves_open_what_a_small_difference_is)
{
    const double us[] = {10e-6, 10.01e-6, 9.99e-6, 10e-6, 10.02e-6},
                 jit[] = {160e-6, 10.1e-6, 10e-6, 10.1e-6, 10.1e-6};
    struct draft d;
    draft_night(&d, 0);
    for (int i = 0; i < 5; i++) {
        draft_shot(&d, "a", 1, i + 1, us[i]);
        draft_shot(&d, "b", 1, i + 1, jit[i]);
    }
    AUTO(run_data_release) struct run_data run = run_of_draft(&d);
    struct variant_delta b = compare_pair(&run, 1, 0, 1, METRIC_PREFILL_S);
    assert_true(b.factor_error > 1);
    assert_int_equal(within_verdict(&b, 0.05), VERDICT_NOISY);
    assert_false(variants_hidden(&b, 1));
}

TEST(a_table_says_what_its_floor_is)
{
    AUTO(run_data_release)
    struct run_data run = two_commands(0, (struct shots){short_a, 1}, (struct shots){short_b, 1});
    struct variant_delta b = compare_pair(&run, 1, 0, 1, METRIC_WALL_S);
    assert_true(variants_hidden(&b, 1));
}

static struct delta two_runs(struct shots before, struct shots now)
{
    const struct compare_options o = compare_defaults();
    AUTO(run_data_release) struct run_data a = two_commands(0, before, before), b = two_commands(1, now, now);
    AUTO(comparison_release) struct comparison c = {0};
    compare_runs(&a, &b, NULL, &o, &c);
    return c.deltas[0];
}

TEST(runs_are_compared_by_their_spread_too)
{
    struct delta d = two_runs((struct shots){short_a, 5}, (struct shots){short_b, 5});
    assert_int_not_equal(d.reason, REASON_NEGLIGIBLE);
    d = two_runs((struct shots){short_a, 1}, (struct shots){short_b, 1});
    assert_int_equal(d.verdict, VERDICT_NOISY);
    assert_int_equal(d.reason, REASON_NEGLIGIBLE);
}

/* Values that do not vary may be those of a coarse timer. */
TEST(what_would_be_found_is_never_less_than_the_floor)
{
    const double ticks[] = {0.004, 0.004, 0.004, 0.004}, next[] = {0.005, 0.005, 0.005, 0.005};
    struct delta d = two_runs((struct shots){ticks, 4}, (struct shots){next, 4});
    assert_int_equal(d.reason, REASON_NEGLIGIBLE);
    assert_near(d.estimate.detectable, 0.005 / 0.004, 1e-9);
}

TEST(what_a_plan_says_of_its_metric_holds_whatever_the_spread)
{
    struct err err = {0};
    const struct compare_options o = compare_defaults();
    struct draft d;
    draft_night(&d, 0);
    d.metrics[d.n_metrics++] = (struct metric_definition){
        .name = "rate", .unit = "GB/s", .better = METRIC_MORE, .least = 50, .primary = true};
    for (int i = 1; i <= 5; i++)
        for (int v = 0; v < 2; v++) {
            draft_shot(&d, v ? "b" : "a", 1, i, 10);
            assert_ok(draft_add_extra(&d.tests[d.n_tests - 1], "rate", v ? 440 + i : 400 + i, &err), &err);
        }
    AUTO(store_close) struct store s = open_store("own.db");
    AUTO(run_data_release) struct run_data run = must_load(&s, must_store(&s, &d));
    AUTO(comparison_release) struct comparison c = {0};
    compare_within(&run, 0, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_UNCHANGED);
    assert_non_null(strstr(verdict_reason(&c.deltas[0], REPORT_EN).s,
                           "; the plan says that up to 50 GB/s never matters"));
    metric_forget();
}

GROUP(scratch_make, scratch_remove);
