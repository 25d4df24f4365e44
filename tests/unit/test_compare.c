/* compare: every verdict, every method, and that nothing is dropped. */
#include "reports/words/reason.h"
#include "tests/unit/results_support.h"

#include "results/judge/compare.h"
#include "results/judge/within.h"
#include "results/stats/stats.h"

static const struct delta *find_delta(const struct comparison *c, const char *variant, int context,
                                      enum metric m)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->deltas[i].variant, variant) == 0 && c->deltas[i].context == context &&
            c->deltas[i].metric == m)
            return &c->deltas[i];
    fail_msg("no row for %s at %d", variant, context);
    return NULL;
}

/* One cell "v" at 4096 with these repetitions. */
static struct run_data one_cell(int night, const double *values, int n)
{
    struct draft d;
    draft_night(&d, night);
    for (int i = 0; i < n; i++)
        draft_shot(&d, "v", 4096, i + 1, values[i]);
    return run_of_draft(&d);
}

static struct delta judge_cells(const double *base, int base_n, const double *now, int now_n,
                                const struct history *history, const struct compare_options *options)
{
    struct comparison c;
    struct run_data a = one_cell(0, base, base_n), b = one_cell(1, now, now_n);
    compare_runs(base_n ? &a : NULL, &b, history, options, &c);
    assert_int_equal(c.count, 1);
    struct delta d = c.deltas[0];
    assert_int_equal(c.verdicts[d.verdict], 1);
    assert_int_not_equal(d.reason, REASON_NONE);
    comparison_release(&c);
    run_data_release(&a);
    run_data_release(&b);
    return d;
}

TEST(a_single_shot_needs_the_threshold)
{
    const struct compare_options o = compare_defaults();
    const double base[] = {10.0}, slow[] = {11.0}, fast[] = {9.0}, near_[] = {10.3};
    struct delta d = judge_cells(base, 1, slow, 1, NULL, &o);
    assert_int_equal(d.verdict, VERDICT_REGRESSED);
    assert_int_equal(d.estimate.method, METHOD_THRESHOLD);
    assert_near(d.estimate.ratio, 1.1, 1e-12);
    assert_near(d.estimate.factor, 10.0 / 11, 1e-12);
    assert_true(isnan(d.estimate.p) && isnan(d.estimate.noise_floor));
    assert_int_equal(judge_cells(base, 1, fast, 1, NULL, &o).verdict, VERDICT_IMPROVED);
    d = judge_cells(base, 1, base, 1, NULL, &o);
    assert_int_equal(d.reason, REASON_SAME_VALUE);
    d = judge_cells(base, 1, near_, 1, NULL, &o);
    assert_int_equal(d.verdict, VERDICT_NOISY);
    assert_int_equal(d.reason, REASON_INSUFFICIENT);
    AUTO(buf_release) struct buf text = {.max = 1000};
    verdict_evidence(&d, REPORT_EN, &text);
    assert_non_null(strstr(buf_str(&text), "so few values cannot rule out a change beyond the threshold"));
}

TEST(few_repetitions_show_their_spread)
{
    const struct compare_options o = compare_defaults();
    const double calm[] = {10.0, 10.05, 9.95}, same[] = {10.1, 10.0, 10.05}, wild[] = {9.0, 12.0, 15.0},
                 slow[] = {11.0, 11.05, 10.95};
    assert_int_equal(judge_cells(calm, 3, same, 3, NULL, &o).verdict, VERDICT_UNCHANGED);
    assert_int_equal(judge_cells(calm, 3, slow, 3, NULL, &o).verdict, VERDICT_REGRESSED);
    struct delta d = judge_cells(calm, 3, wild, 3, NULL, &o);
    assert_int_equal(d.verdict, VERDICT_NOISY);
    assert_int_equal(d.estimate.method, METHOD_THRESHOLD);
    assert_true(d.estimate.noise_floor > 0.05);
}

/* The same code twice, with a noise that exceeds the threshold by chance: a change in one case of twenty at
 * most. A change of three times the threshold is still found. */
TEST(few_repetitions_seldom_raise_an_alarm)
{
    enum { CASES = 2000 };
    const struct compare_options o = compare_defaults();
    struct stats_rng rng;
    stats_rng_seed(&rng, 11);
    for (int n = 2; n <= 3; n++) {
        int wrong = 0, found = 0;
        for (int i = 0; i < CASES; i++) {
            double base[3], now[3], slow[3];
            for (int j = 0; j < n; j++) {
                base[j] = exp(0.04 * stats_rng_normal(&rng));
                now[j] = exp(0.04 * stats_rng_normal(&rng));
                slow[j] = 1.15 * exp(0.01 * stats_rng_normal(&rng));
            }
            enum verdict v = judge_cells(base, n, now, n, NULL, &o).verdict;
            wrong += v == VERDICT_REGRESSED || v == VERDICT_IMPROVED;
            for (int j = 0; j < n; j++)
                base[j] = exp(0.01 * stats_rng_normal(&rng));
            found += judge_cells(base, n, slow, n, NULL, &o).verdict == VERDICT_REGRESSED;
        }
        assert_in_range(wrong, 0, CASES / 20);
        assert_in_range(found, CASES * 95 / 100, CASES);
    }
}

TEST(four_a_side_are_ranked)
{
    const struct compare_options o = compare_defaults();
    const double base[] = {10.0, 10.1, 9.9, 10.05}, slow[] = {11.0, 11.1, 10.9, 11.05},
                 mixed[] = {9.95, 12.0, 12.1, 10.02};
    struct delta d = judge_cells(base, 4, slow, 4, NULL, &o);
    assert_int_equal(d.verdict, VERDICT_REGRESSED);
    assert_int_equal(d.estimate.method, METHOD_MANN_WHITNEY);
    assert_near(d.estimate.p, 2.0 / 70, 1e-12);
    assert_int_equal(judge_cells(base, 4, mixed, 4, NULL, &o).verdict, VERDICT_NOISY);
}

TEST(five_a_side_get_an_interval)
{
    const struct compare_options o = compare_defaults();
    const double base[] = {10.0, 10.1, 9.9, 10.05, 9.95}, slow[] = {11.0, 11.1, 10.9, 11.05, 10.95},
                 same[] = {10.02, 10.08, 9.92, 10.03, 9.97};
    struct delta d = judge_cells(base, 5, slow, 5, NULL, &o), again = judge_cells(base, 5, slow, 5, NULL, &o);
    assert_int_equal(d.verdict, VERDICT_REGRESSED);
    assert_int_equal(d.estimate.method, METHOD_BOOTSTRAP);
    assert_true(d.estimate.low > 1.05 && d.estimate.high < 1.15 && d.estimate.low <= d.estimate.ratio &&
                d.estimate.ratio <= d.estimate.high);
    assert_near(d.estimate.low, again.estimate.low, 0);
    assert_int_equal(judge_cells(base, 5, same, 5, NULL, &o).verdict, VERDICT_UNCHANGED);
    /* Three percent are within a night's drift of another night, but not of the other half of the same
     * session. */
    const double little[] = {10.3, 10.41, 10.2, 10.35, 10.25};
    assert_int_equal(judge_cells(base, 5, little, 5, NULL, &o).verdict, VERDICT_UNCHANGED);
    struct compare_options turns = o;
    turns.same_session = true;
    assert_int_equal(judge_cells(base, 5, little, 5, NULL, &turns).verdict, VERDICT_REGRESSED);
}

TEST(warm_up_and_failures_do_not_count)
{
    struct draft d;
    AUTO(comparison_release) struct comparison c = {0};
    const struct compare_options o = compare_defaults();
    draft_night(&d, 0);
    draft_shot(&d, "v", 4096, 1, 99.0)->warmup = true;
    draft_shot(&d, "v", 4096, 2, 10.0);
    draft_shot(&d, "v", 4096, 3, 10.2);
    AUTO(run_data_release) struct run_data a = run_of_draft(&d);
    assert_int_equal(a.cells[0].counted, 2);
    assert_near(a.cells[0].median[METRIC_PREFILL_S], 10.1, 1e-12);
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, 10.0);
    struct run_test *t = draft_shot(&d, "v", 4096, 2, 10.0);
    t->status = STATUS_TIMEOUT;
    t->reason = "over 60 s";
    AUTO(run_data_release) struct run_data b = run_of_draft(&d);
    compare_runs(&a, &b, NULL, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_BROKEN);
    assert_int_equal(c.deltas[0].now.status, STATUS_TIMEOUT);
    assert_non_null(strstr(verdict_reason(&c.deltas[0], REPORT_EN).s, "1 of 2 repetitions"));
    assert_non_null(strstr(verdict_reason(&c.deltas[0], REPORT_EN).s, "over 60 s"));
    assert_true(comparison_regressed(&c));
}

TEST(a_metric_that_is_no_longer_printed_is_missing)
{
    struct draft d;
    struct comparison c;
    const struct compare_options o = compare_defaults();
    draft_night(&d, 0);
    draft_shot(&d, "v", 4096, 1, 10.0);
    AUTO(run_data_release) struct run_data a = run_of_draft(&d);
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, NAN)->value[METRIC_WALL_S] = 11;
    AUTO(run_data_release) struct run_data b = run_of_draft(&d);
    compare_runs(&a, &b, NULL, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_MISSING);
    assert_int_equal(c.deltas[0].reason, REASON_METRIC_LOST);
    assert_true(comparison_regressed(&c));
    comparison_release(&c);
    compare_runs(&b, &a, NULL, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_NEW);
    comparison_release(&c);
}

/* The run was to measure this cell, and did not. */
static void ask_for(struct run_data *run, const char *variant, int context)
{
    run->unmeasured = calloc(1, sizeof *run->unmeasured);
    run->n_unmeasured = 1;
    snprintf(run->unmeasured->variant, sizeof run->unmeasured->variant, "%s", variant);
    run->unmeasured->context = context;
}

TEST(what_one_side_lacks_is_a_finding)
{
    struct draft d;
    struct comparison c;
    const struct compare_options o = compare_defaults();
    draft_night(&d, 0);
    draft_shot(&d, "gone", 4096, 1, 10.0);
    draft_shot(&d, "was_bad", 4096, 1, 10.0)->status = STATUS_HANG;
    draft_shot(&d, "still_bad", 4096, 1, 10.0)->status = STATUS_OOM;
    AUTO(run_data_release) struct run_data a = run_of_draft(&d);
    draft_night(&d, 1);
    draft_shot(&d, "new", 4096, 1, 10.0);
    draft_shot(&d, "was_bad", 4096, 1, 10.0);
    draft_shot(&d, "still_bad", 4096, 1, 10.0)->status = STATUS_CRASH;
    AUTO(run_data_release) struct run_data b = run_of_draft(&d);
    compare_runs(&a, &b, NULL, &o, &c);
    assert_int_equal(c.count, 3); /* nobody asked for "gone" */
    comparison_release(&c);
    ask_for(&b, "gone", 4096);
    compare_runs(&a, &b, NULL, &o, &c);
    assert_int_equal(c.count, 4);
    assert_int_equal(find_delta(&c, "gone", 4096, METRIC_PREFILL_S)->verdict, VERDICT_MISSING);
    assert_int_equal(find_delta(&c, "new", 4096, METRIC_PREFILL_S)->verdict, VERDICT_NEW);
    assert_int_equal(find_delta(&c, "was_bad", 4096, METRIC_PREFILL_S)->verdict, VERDICT_FIXED);
    assert_int_equal(find_delta(&c, "still_bad", 4096, METRIC_PREFILL_S)->verdict, VERDICT_FAILING);
    assert_string_equal(c.deltas[3].variant, "gone");
    assert_true(comparison_regressed(&c));
    comparison_release(&c);
}

/* n nights of about 10 s for the one cell of one_cell(). */
static struct history make_history(struct history_series *series, struct history_point *points, size_t n,
                                   double spread)
{
    for (size_t i = 0; i < n; i++)
        points[i] = (struct history_point){
            .run_key = (int64_t)i + 1, .median = 10 + spread * ((double)(i % 5) - 2), .n = 3};
    *series = (struct history_series){"v", 4096, METRIC_PREFILL_S, 0, points, n, ""};
    return (struct history){.series = series, .count = 1, .nights = n};
}

TEST(nights_judge_a_night)
{
    const struct compare_options o = compare_defaults();
    struct history_series series;
    struct history_point points[20];
    const double same[] = {10.1}, slow[] = {10.6};
    struct history calm = make_history(&series, points, 20, 0.05);
    struct delta d = judge_cells(NULL, 0, slow, 1, &calm, &o);
    assert_int_equal(d.verdict, VERDICT_SUSPECTED);
    assert_int_equal(d.estimate.method, METHOD_NIGHTS);
    assert_int_equal(d.reference.history_n, 20);
    assert_int_equal(d.reference.kind, REFERENCE_LEVEL);
    assert_int_equal(d.reference.nights, 20);
    assert_near(d.reference.value, 10, 1e-3);
    /* The values of the nights have a standard deviation of 0.7 %, and tonight is one more. */
    assert_near(d.estimate.noise_floor, 0.007, 0.002);
    assert_near(d.estimate.z, log(1.06) / d.estimate.noise_floor, 0.02);
    assert_near(d.estimate.freedom, 23, 0);
    assert_int_equal(judge_cells(NULL, 0, same, 1, &calm, &o).verdict, VERDICT_UNCHANGED);
    /* Against one night, that night's own noise counts too. */
    const double base[] = {10.0};
    struct delta once = judge_cells(base, 1, slow, 1, &calm, &o);
    assert_int_equal(once.reference.kind, REFERENCE_RUN);
    assert_true(once.estimate.noise_floor > 1.3 * d.estimate.noise_floor);

    struct history wild = make_history(&series, points, 20, 0.5);
    d = judge_cells(NULL, 0, slow, 1, &wild, &o);
    assert_int_equal(d.verdict, VERDICT_NOISY);
    assert_true(d.estimate.detectable > 0.05);
    /* Significant, but of no account. */
    struct history still = make_history(&series, points, 20, 0.001);
    const double hair[] = {10.1};
    d = judge_cells(NULL, 0, hair, 1, &still, &o);
    assert_true(d.estimate.z > 3.5);
    assert_int_equal(d.verdict, VERDICT_UNCHANGED);
}

TEST(a_second_night_makes_a_suspect_a_finding)
{
    const struct compare_options o = compare_defaults();
    const double slow[] = {11}, back[] = {10.05};
    for (size_t before = 13; before <= 20; before++) { /* of which the last one is quiet, or slow */
        struct history_series series;
        struct history_point points[21];
        struct history h = make_history(&series, points, before, 0.05);
        for (size_t i = 0; i < before; i++)
            points[i].measured_at = points[i].run_key;
        assert_int_equal(judge_cells(NULL, 0, slow, 1, &h, &o).verdict, VERDICT_SUSPECTED);
        points[before - 1].median = 11;
        struct delta d = judge_cells(NULL, 0, slow, 1, &h, &o);
        assert_int_equal(d.verdict, VERDICT_REGRESSED);
        assert_int_equal(d.stand.since, before);
        d = judge_cells(NULL, 0, back, 1, &h, &o);
        assert_int_equal(d.verdict, VERDICT_UNCHANGED);
        assert_int_equal(d.stand.gone, before);
    }
}

/* Without a base the nights before say what there was. */
TEST(what_nights_had_and_a_night_lacks_is_a_finding)
{
    struct draft d;
    struct comparison c;
    struct compare_options o = compare_defaults();
    struct history_series series[3];
    struct history_point points[3][20];
    static const char *const names[] = {"gone", "long_gone", "v"};
    for (int i = 0; i < 3; i++) {
        make_history(&series[i], points[i], 20, 0.05);
        snprintf(series[i].variant, sizeof series[i].variant, "%s", names[i]);
    }
    points[1][19].run_key = points[1][18].run_key; /* went out of the plan before last night */
    series[1].count = 19;
    const struct history h = {.series = series, .count = 3, .nights = 20};
    draft_night(&d, 21);
    struct run_test *t = draft_shot(&d, "v", 4096, 1, 10.0);
    t->status = STATUS_TIMEOUT;
    t->reason = "over 60 s";
    draft_shot(&d, "w", 4096, 1, 10.0);
    AUTO(run_data_release) struct run_data now = run_of_draft(&d);
    compare_runs(NULL, &now, &h, &o, &c);
    assert_int_equal(c.count, 2); /* it was not asked for what went out of the plan */
    comparison_release(&c);
    ask_for(&now, "gone", 4096);
    compare_runs(NULL, &now, &h, &o, &c);
    assert_int_equal(c.count, 3);
    assert_int_equal(c.verdicts[VERDICT_BROKEN], 1);
    assert_int_equal(c.verdicts[VERDICT_NEW], 1);
    assert_int_equal(c.verdicts[VERDICT_MISSING], 1);
    for (size_t i = 0; i < c.count; i++)
        if (c.deltas[i].verdict == VERDICT_BROKEN)
            assert_non_null(strstr(verdict_reason(&c.deltas[i], REPORT_EN).s,
                                   "OK on earlier nights, now TIMEOUT: over 60 s"));
        else if (c.deltas[i].verdict == VERDICT_MISSING)
            assert_string_equal(c.deltas[i].variant, "gone");
    assert_true(comparison_regressed(&c));
    comparison_release(&c);
}

TEST(other_metrics_are_held_against_the_nights_too)
{
    struct draft d;
    AUTO(comparison_release) struct comparison c = {0};
    struct compare_options o = compare_defaults();
    struct history_series series[2];
    struct history_point points[2][20];
    for (int i = 0; i < 2; i++)
        make_history(&series[i], points[i], 20, 0.05);
    series[1].metric = METRIC_WALL_S;
    const struct history h = {.series = series, .count = 2, .nights = 20};
    o.all_metrics = true;
    draft_night(&d, 21);
    struct run_test *t = draft_shot(&d, "v", 4096, 1, 10.0);
    t->value[METRIC_WALL_S] = 11.0;
    t->value[METRIC_DECODE_S] = 1.0; /* no night measured that */
    AUTO(run_data_release) struct run_data now = run_of_draft(&d);
    compare_runs(NULL, &now, &h, &o, &c);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.deltas[0].verdict, VERDICT_UNCHANGED);
    assert_int_equal(c.deltas[1].metric, METRIC_WALL_S);
    assert_int_equal(c.deltas[1].verdict, VERDICT_SUSPECTED);
}

TEST(a_short_history_is_not_used)
{
    const struct compare_options o = compare_defaults();
    struct history_series series;
    struct history_point points[20];
    struct history h = make_history(&series, points, 7, 0.05);
    const double base[] = {10.0}, slow[] = {10.4};
    struct delta d = judge_cells(base, 1, slow, 1, &h, &o);
    assert_int_equal(d.estimate.method, METHOD_THRESHOLD);
    assert_int_equal(d.verdict, VERDICT_NOISY);
    assert_int_equal(d.reference.history_n, 7);
}

TEST(a_baseline_of_several_runs_is_its_median)
{
    struct compare_options o = compare_defaults();
    struct history_series series;
    struct history_point points[20];
    struct history h = make_history(&series, points, 20, 0.05);
    const double last[] = {10.5}, now[] = {10.5};
    const int64_t runs[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    o.base_runs = runs;
    o.n_base_runs = 20;
    struct delta d = judge_cells(last, 1, now, 1, &h, &o);
    assert_near(d.base.median, 10.5, 0);
    assert_near(d.reference.value, 10, 1e-3);
    assert_near(d.estimate.ratio, 1.05, 1e-4);
    assert_int_equal(d.verdict, VERDICT_SUSPECTED);
}

/* Nobody made the improvement of the ninth night the baseline: a loss since then counts all the same. */
TEST(a_loss_since_an_improvement_counts_against_an_older_base)
{
    struct compare_options o = compare_defaults();
    struct history_series series;
    struct history_point points[20];
    struct history h = make_history(&series, points, 20, 0.02);
    const int64_t base_run = 3;
    const double base[] = {10.0, 10.0, 10.0}, lost[] = {8.8, 8.82, 8.78}, kept[] = {8.0, 8.01, 7.99};
    for (int i = 8; i < 20; i++)
        points[i].median *= 0.8;
    o.base_runs = &base_run;
    o.n_base_runs = 1;
    struct delta d = judge_cells(base, 3, kept, 3, &h, &o);
    assert_int_equal(d.verdict, VERDICT_IMPROVED);
    assert_int_equal(d.reference.kind, REFERENCE_BASE);
    for (int night = 1; night <= 2; night++) {
        d = judge_cells(base, 3, lost, 3, &h, &o);
        assert_int_equal(d.verdict, night == 1 ? VERDICT_SUSPECTED : VERDICT_REGRESSED);
        assert_int_equal(d.reference.kind, REFERENCE_LEVEL);
        assert_near(d.estimate.ratio, 1.1, 0.005);
        points[19].median = 8.8;
    }
}

/* Among 400 cells a value of t that is news in one cell is none. */
TEST(many_cells_are_corrected_for)
{
    enum { CELLS = 400 };
    AUTO(comparison_release) struct comparison c = {0};
    struct draft d;
    const struct compare_options o = compare_defaults();
    struct history_series *series = calloc(CELLS, sizeof *series);
    struct history_point(*points)[20] = calloc(CELLS, sizeof *points);
    struct stats_rng rng;
    stats_rng_seed(&rng, 21);
    draft_night(&d, 30);
    for (int i = 0; i < CELLS; i++) {
        make_history(&series[i], points[i], 20, 0);
        for (int n = 0; n < 20; n++)
            points[i][n].median += 0.1 * stats_rng_normal(&rng);
        series[i].context = 1000 + i;
        draft_shot(&d, "v", 1000 + i, 1, i == 7 ? 12.0 : i == 9 ? 10.3 : 10.0);
    }
    struct history h = {.series = series, .count = CELLS, .nights = 20};
    AUTO(run_data_release) struct run_data now = run_of_draft(&d);
    compare_runs(NULL, &now, &h, &o, &c);
    assert_int_equal(c.tested, CELLS);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 0);
    assert_int_equal(c.verdicts[VERDICT_SUSPECTED], 1);
    assert_int_equal(find_delta(&c, "v", 1007, METRIC_PREFILL_S)->verdict, VERDICT_SUSPECTED);
    const struct delta *chance = find_delta(&c, "v", 1009, METRIC_PREFILL_S);
    assert_true(chance->estimate.z > 2.5 && chance->estimate.p < 0.05 && chance->estimate.p_adjusted > 0.05);
    free(series);
    free(points);
}

TEST(every_metric_knows_its_direction)
{
    AUTO(comparison_release) struct comparison c = {0};
    struct draft d;
    struct compare_options o = compare_defaults();
    o.all_metrics = true;
    draft_night(&d, 0);
    draft_shot(&d, "v", 4096, 1, 10.0)->value[METRIC_DECODE_S] = 2e-7;
    d.variants[0].value[METRIC_SCRATCH_BYTES] = 0;
    AUTO(run_data_release) struct run_data a = run_of_draft(&d);
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, 20.0)->value[METRIC_DECODE_S] = 9e-7;
    d.variants[0].value[METRIC_SCRATCH_BYTES] = 528;
    AUTO(run_data_release) struct run_data b = run_of_draft(&d);
    compare_runs(&a, &b, NULL, &o, &c);
    assert_int_equal(find_delta(&c, "v", 4096, METRIC_PREFILL_S)->verdict, VERDICT_REGRESSED);
    const struct delta *speed = find_delta(&c, "v", 4096, METRIC_TOK_PER_S);
    assert_int_equal(speed->verdict, VERDICT_REGRESSED);
    assert_near(speed->estimate.ratio, 0.5, 1e-12);
    assert_near(speed->estimate.factor, 0.5, 1e-12);
    const struct delta *scratch_row = find_delta(&c, "v", 4096, METRIC_SCRATCH_BYTES);
    assert_int_equal(scratch_row->verdict, VERDICT_REGRESSED);
    assert_int_equal(scratch_row->estimate.method, METHOD_EXACT);
    assert_int_equal(find_delta(&c, "v", 4096, METRIC_DECODE_S)->verdict, VERDICT_NOISY);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 1);
}

TEST(a_changed_environment_is_shown)
{
    struct comparison c;
    const struct compare_options o = compare_defaults();
    const double v[] = {1};
    struct run_data a = one_cell(0, v, 1), b = one_cell(1, v, 1);
    struct run_fact before[] = {{"clock", "2100"}, {"driver", "6.8"}, {"rocm", "6.1"}},
                    after[] = {{"driver", "6.9"}, {"env.X", "1"}, {"rocm", "6.1"}};
    a.facts = before;
    b.facts = after;
    a.n_facts = b.n_facts = 3;
    compare_runs(&a, &b, NULL, &o, &c);
    assert_int_equal(c.n_facts, 3);
    assert_string_equal(c.facts[0].key, "clock");
    assert_string_equal(c.facts[0].now, "");
    assert_string_equal(c.facts[1].key, "driver");
    assert_string_equal(c.facts[1].base, "6.8");
    assert_string_equal(c.facts[1].now, "6.9");
    assert_string_equal(c.facts[2].key, "env.X");
    comparison_release(&c);
    a.facts = b.facts = NULL;
    run_data_release(&a);
    run_data_release(&b);
}

TEST(oddities_are_flagged_not_dropped)
{
    const struct compare_options o = compare_defaults();
    const double base[] = {10, 10.01, 9.99, 10, 10.02}, now[] = {14, 10.01, 9.99, 10, 10.02};
    struct delta d = judge_cells(base, 5, now, 5, NULL, &o);
    assert_true(d.doubts.outlier);
    assert_true(d.doubts.slow_first);
    assert_int_equal(d.now.n, 5);
    d = judge_cells(base, 5, base, 5, NULL, &o);
    assert_false(d.doubts.outlier || d.doubts.slow_first);
}

TEST(variants_are_set_against_each_other)
{
    struct err err = {0};
    struct draft d;
    draft_night(&d, 0);
    draft_shot(&d, "baseline", 4096, 1, 10.0);
    draft_shot(&d, "baseline", 4096, 2, 10.2);
    draft_shot(&d, "v3", 4096, 1, 5.0);
    draft_shot(&d, "v3", 4096, 2, 5.1);
    draft_shot(&d, "v3", 8192, 1, 9.0);
    AUTO(run_data_release) struct run_data r = run_of_draft(&d);
    size_t reference;
    assert_ok(run_data_reference(&r, NULL, &reference, &err), &err);
    assert_int_equal(reference, 0);
    assert_err(run_data_reference(&r, "v9", &reference, &err), &err, ERR_INPUT, "v9");
    struct variant_delta *rows = compare_variants(&r, 0, METRIC_PREFILL_S);
    assert_int_equal(r.n_cells, 3);
    assert_near(rows[0].factor, 1, 0);
    assert_near(rows[1].factor, 2, 1e-12);
    assert_true(rows[1].factor_error > 0 && rows[1].factor_error < 0.1);
    assert_true(isnan(rows[2].factor));
    free(rows);
}

GROUP(scratch_make, scratch_remove);
