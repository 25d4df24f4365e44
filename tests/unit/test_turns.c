/* turns: the metric by which two sides are judged that do not measure the same. */
#include "reports/words/reason.h"
#include "results/judge/turns.h"
#include "tests/unit/results_support.h"

enum { REPETITIONS = 3, CONTEXT = 64 };

/* What the tests of one side's run print. */
enum prints { NOTHING, KERNEL = 1, PREFILL = 2, FAILING = 4 };

static void add_cell(struct draft *d, const char *variant, int prints)
{
    for (int r = 1; r <= REPETITIONS; r++) {
        struct run_test *t = draft_shot(d, variant, CONTEXT, r, 1);
        if (!(prints & PREFILL))
            t->value[METRIC_PREFILL_S] = NAN;
        if (prints & KERNEL)
            t->value[METRIC_KERNEL_MS] = 5;
        if (prints & FAILING)
            t->status = STATUS_CRASH;
    }
}

/* Of a plan that names no primary metric. */
static struct run_data unnamed(struct draft *d)
{
    struct run_data r = run_of_draft(d);
    r.primary = METRIC_COUNT;
    return r;
}

static struct run_data run_that(int prints)
{
    struct draft d;
    draft_night(&d, 0);
    add_cell(&d, "v", prints);
    return unnamed(&d);
}

static void assert_metric(struct run_data base, struct run_data now, enum metric expected)
{
    const struct run_data *bases[] = {&base}, *nows[] = {&now};
    const struct delta d = {.variant = "v", .context = CONTEXT};
    assert_int_equal(turns_metric(&(struct turns_runs){bases, 1}, &(struct turns_runs){nows, 1}, &d),
                     expected);
    run_data_release(&base);
    run_data_release(&now);
}

TEST(either_side_says_what_is_measured)
{
    assert_metric(run_that(KERNEL), run_that(KERNEL | FAILING), METRIC_KERNEL_MS);
    assert_metric(run_that(KERNEL | FAILING), run_that(KERNEL), METRIC_KERNEL_MS);
    assert_metric(run_that(KERNEL), run_that(NOTHING), METRIC_KERNEL_MS);
    assert_metric(run_that(PREFILL), run_that(KERNEL), METRIC_PREFILL_S);
}

TEST(what_both_measure_goes_first)
{
    assert_metric(run_that(KERNEL | PREFILL), run_that(KERNEL | PREFILL), METRIC_PREFILL_S);
    assert_metric(run_that(KERNEL | PREFILL), run_that(KERNEL), METRIC_KERNEL_MS);
    assert_metric(run_that(KERNEL), run_that(KERNEL | PREFILL), METRIC_KERNEL_MS);
    assert_metric(run_that(NOTHING), run_that(NOTHING), METRIC_WALL_S);
}

TEST(the_named_metric_stays)
{
    struct run_data base = run_that(KERNEL | PREFILL), now = run_that(KERNEL);
    base.primary = now.primary = METRIC_PREFILL_S;
    assert_metric(base, now, METRIC_PREFILL_S);
}

/* Another cell's metric is not this one's. */
TEST(each_cell_has_its_own)
{
    struct draft d;
    draft_night(&d, 0);
    add_cell(&d, "v", KERNEL);
    add_cell(&d, "w", PREFILL);
    struct run_data base = unnamed(&d);
    draft_night(&d, 1);
    add_cell(&d, "v", FAILING);
    add_cell(&d, "w", PREFILL);
    assert_metric(base, unnamed(&d), METRIC_KERNEL_MS);
}

TEST(a_side_that_lacks_the_metric_may_have_passed)
{
    struct run_data base = run_that(KERNEL), now = run_that(NOTHING), failing = run_that(KERNEL | FAILING);
    const struct run_data *bases[] = {&base}, *nows[] = {&now}, *failed[] = {&failing};
    const struct turns_runs of_base = {bases, 1}, of_now = {nows, 1}, of_failing = {failed, 1};
    const struct compare_options o = compare_defaults();
    struct delta d = {.variant = "v", .context = CONTEXT, .metric = METRIC_KERNEL_MS};
    turns_judge(&of_base, &of_now, &o, &d);
    assert_int_equal(d.verdict, VERDICT_NOISY);
    assert_string_equal(verdict_reason(&d, REPORT_EN).s, "it has no valid measurement of kernel_ms");
    assert_true(turns_passed(&of_now, &d));
    assert_false(turns_passed(&of_failing, &d));
    run_data_release(&base);
    run_data_release(&now);
    run_data_release(&failing);
}

static struct run_data run_on(const char *gpu)
{
    struct draft d;
    draft_night(&d, 0);
    for (int r = 1; r <= REPETITIONS; r++)
        draft_shot(&d, "v", CONTEXT, r, 1)->gpu = gpu;
    return unnamed(&d);
}

/* Both sides have values, so neither is to blame. */
TEST(sides_without_a_gpu_in_common_are_apart)
{
    struct run_data one = run_on("GPU-1"), two = run_on("GPU-2");
    const struct run_data *first[] = {&one}, *other[] = {&two}, *both[] = {&two, &one};
    const struct turns_runs on_one = {first, 1}, on_two = {other, 1}, on_both = {both, 2};
    const struct compare_options o = compare_defaults();
    struct delta d = {.variant = "v", .context = CONTEXT, .metric = METRIC_PREFILL_S};
    turns_judge(&on_one, &on_two, &o, &d);
    assert_int_equal(d.reason, REASON_APART);
    assert_int_equal(d.verdict, VERDICT_NOISY);
    assert_string_equal(verdict_reason(&d, REPORT_EN).s,
                        "the two sides were measured on different GPUs: name one in the plan's \"gpus\"");
    turns_judge(&on_one, &on_both, &o, &d);
    assert_int_not_equal(d.reason, REASON_APART);
    assert_int_equal(d.base.n, REPETITIONS);
    run_data_release(&one);
    run_data_release(&two);
}

/* Two runs of a side in each round; what one side measured while the other failed is of another time. */
TEST(rounds_that_one_side_failed_in_do_not_count)
{
    struct run_data good = run_that(PREFILL), failing = run_that(PREFILL | FAILING);
    const struct run_data *passed[] = {&good, &good, &good, &good},
                          *ended[] = {&good, &good, &failing, &failing},
                          *late[] = {&failing, &failing, &good, &good};
    const struct turns_runs all = {passed, 4}, first = {ended, 4}, last = {late, 4};
    const struct compare_options o = compare_defaults();
    struct delta d = {.variant = "v", .context = CONTEXT, .metric = METRIC_PREFILL_S};
    turns_judge_rounds(&all, &all, 2, &o, &d);
    assert_int_equal(d.base.n, 4 * REPETITIONS);
    turns_judge_rounds(&all, &first, 2, &o, &d);
    assert_int_equal(d.base.n, 2 * REPETITIONS);
    assert_int_equal(d.now.n, 2 * REPETITIONS);
    turns_judge_rounds(&last, &all, 2, &o, &d);
    assert_int_equal(d.base.n, 2 * REPETITIONS);
    assert_int_equal(d.now.n, 2 * REPETITIONS);
    turns_judge_rounds(&last, &first, 2, &o, &d); /* none has both: the last one tells */
    assert_int_equal(d.base.n, 2 * REPETITIONS);
    assert_int_equal(d.now.n, 0);
    assert_string_equal(verdict_reason(&d, REPORT_EN).s, "it has no valid measurement of prefill_s");
    run_data_release(&good);
    run_data_release(&failing);
}

static double mixed(double middle, const double base[static 5], const double now[static 5])
{
    const struct pair v = {.base = base, .now = now, .base_n = 5, .now_n = 5};
    struct compare_options o = compare_defaults();
    struct delta d = {0};
    o.middle = middle;
    turns_judge_values(&v, METRIC_PREFILL_S, &o, &d);
    return d.estimate.mixed;
}

TEST(repetitions_on_the_wrong_side_are_counted)
{
    static const double fast[] = {1, 1, 1, 1, 1.01}, slow[] = {1.08, 1.08, 1.08, 1.08, 1.09},
                        both[] = {1, 1, 1, 1.09, 1.08}, none[] = {0, 0, 0, 0, 0};
    assert_true(mixed(0, fast, slow) == 0);
    assert_true(mixed(0, slow, fast) == 0);
    assert_true(mixed(0, both, slow) == 0.4);
    assert_true(mixed(0, slow, both) == 0.4);
    assert_true(mixed(1.04, fast, both) == 0.4);
    assert_true(mixed(1.2, fast, both) == 0);
    assert_true(mixed(0, none, none) == 0);
}
