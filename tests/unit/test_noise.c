/* noise and confirm: the noise floor from A/A sweeps, and decisions from re-measuring alternately. */
#include "reports/words/reason.h"
#include "tests/unit/results_support.h"

#include "results/judge/compare.h"
#include "results/judge/confirm.h"
#include "results/judge/measure_noise.h"
#include "results/judge/noise.h"
#include "results/query/against.h"
#include "results/query/confirm_store.h"
#include "results/query/noise_store.h"

static struct run_data run_of(int night, const double *values, int n)
{
    struct draft d;
    draft_night(&d, night);
    for (int i = 0; i < n; i++)
        draft_shot(&d, "v", 4096, i + 1, values[i]);
    return run_of_draft(&d);
}

TEST(spreads_and_alarms_are_counted)
{
    struct err err = {0};
    struct noise n;
    const struct compare_options o = compare_defaults();
    const double a[] = {10.0, 10.2}, b[] = {10.0, 10.2}, c[] = {12.0, 12.2};
    struct run_data ra = run_of(0, a, 2), rb = run_of(1, b, 2), rc = run_of(2, c, 2);
    const struct run_data *const runs[] = {&ra, &rb, &rc};
    assert_ok(noise_measure(runs, 3, &o, &n, &err), &err);
    double spread = noise_spread(&n, "v", 4096, METRIC_PREFILL_S);
    /* Medians 10.1, 10.1 and 12.1. */
    assert_near(spread, sqrt(4.0 / 3) / 10.1, 1e-12);
    assert_int_equal(n.comparisons, 6);
    assert_int_equal(n.alarms, 4);
    assert_true(isnan(noise_spread(&n, "v", 8192, METRIC_PREFILL_S)));
    assert_true(isnan(noise_spread(NULL, "v", 4096, METRIC_PREFILL_S)));
    noise_release(&n);
    snprintf(rb.info.node, sizeof rb.info.node, "elsewhere");
    assert_err(noise_measure(runs, 3, &o, &n, &err), &err, ERR_INPUT, "different nodes");
    assert_err(noise_measure(runs, 1, &o, &n, &err), &err, ERR_INPUT, "2 to");
    run_data_release(&ra);
    run_data_release(&rb);
    run_data_release(&rc);
}

/* Six cells of 10 s, all at `level`, whose repetitions vary by 8 %. */
static struct run_data six_cells(int night, double level)
{
    struct draft d;
    draft_night(&d, night);
    for (int c = 0; c < 6; c++)
        for (int r = 0; r < 3; r++)
            draft_shot(&d, "v", 256 << c, r + 1, 10 * level * (0.92 + 0.08 * r));
    return run_of_draft(&d);
}

/* It is what all cells have in common, and no more than the repetitions differ by: a comparison of two of
 * these runs reports no cell. The threshold by itself would. */
TEST(the_threshold_alone_is_what_alarms_are_counted_of)
{
    struct err err = {0};
    struct noise n;
    const struct compare_options o = compare_defaults();
    struct run_data a = six_cells(0, 1), b = six_cells(1, 1), c = six_cells(2, 1.1);
    const struct run_data *const runs[] = {&a, &b, &c};
    assert_ok(noise_measure(runs, 3, &o, &n, &err), &err);
    assert_int_equal(n.comparisons, 36);
    assert_int_equal(n.alarms, 24);
    noise_release(&n);
    snprintf(a.variants[0].code_sha256, sizeof a.variants[0].code_sha256, "1111");
    snprintf(c.variants[0].code_sha256, sizeof c.variants[0].code_sha256, "2222");
    assert_err(noise_measure(runs, 3, &o, &n, &err), &err, ERR_INPUT, "different code of v");
    run_data_release(&a);
    run_data_release(&b);
    run_data_release(&c);
}

TEST(a_measured_noise_floor_tempers_single_shots)
{
    struct err err = {0};
    AUTO(store_close) struct store s = open_store("noise.db");
    struct comparison c;
    struct draft d;
    int64_t keys[3];
    struct run_data runs[3];
    const struct run_data *const all[] = {&runs[0], &runs[1], &runs[2]};
    struct compare_options o = compare_defaults();
    const double levels[] = {10.0, 10.3, 10.8};
    for (int i = 0; i < 3; i++) {
        draft_night(&d, i);
        draft_shot(&d, "v", 4096, 1, levels[i]);
        keys[i] = must_store(&s, &d);
        runs[i] = must_load(&s, keys[i]);
    }
    compare_runs(&runs[0], &runs[2], NULL, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_REGRESSED);
    comparison_release(&c);

    struct noise measured, n;
    assert_ok(noise_measure(all, 3, &o, &measured, &err), &err);
    assert_ok(noise_save(&s, &runs[0].info, &measured, &err), &err);
    assert_ok(noise_save(&s, &runs[0].info, &measured, &err), &err);
    assert_ok(noise_load(&s, &runs[0].info, &n, &err), &err);
    assert_near(noise_spread(&n, "v", 4096, METRIC_PREFILL_S),
                noise_spread(&measured, "v", 4096, METRIC_PREFILL_S), 1e-15);
    o.noise = &n;
    compare_runs(&runs[0], &runs[2], NULL, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_NOISY);
    assert_true(c.deltas[0].estimate.noise_floor > 0.04);
    comparison_release(&c);
    noise_release(&n);
    noise_release(&measured);
    for (int i = 0; i < 3; i++)
        run_data_release(&runs[i]);
}

static enum verdict confirmed_verdict(const double *base, const double *now, int n,
                                      enum confirmation expected)
{
    struct comparison c;
    const struct compare_options o = compare_defaults();
    const double before[] = {10.0}, after[] = {11.0};
    struct run_data a = run_of(0, before, 1), b = run_of(1, after, 1);
    compare_runs(&a, &b, NULL, &o, &c);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 1);

    struct suspect_list suspects;
    confirm_suspects(&c, &suspects);
    assert_int_equal(suspects.count, 1);
    assert_string_equal(suspects.items[0].variant, "v");
    assert_int_equal(suspects.items[0].context, 4096);
    suspect_list_release(&suspects);

    struct run_data a1 = run_of(2, base, n), a2 = run_of(3, base, n), b1 = run_of(4, now, n),
                    b2 = run_of(5, now, n);
    const struct run_data *const bases[] = {&a1, &a2}, *const nows[] = {&b1, &b2};
    confirm_judge(&c, bases, 2, nows, 2, &o);
    enum verdict v = c.deltas[0].verdict;
    assert_int_equal(c.deltas[0].confirmation, expected);
    assert_int_equal(c.verdicts[v], 1);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED] + c.verdicts[VERDICT_NOISY], 1);
    if (n == 0)
        assert_int_equal(c.deltas[0].doubts.undecided, UNDECIDED_NOT_MEASURED);
    comparison_release(&c);
    run_data_release(&a);
    run_data_release(&b);
    run_data_release(&a1);
    run_data_release(&a2);
    run_data_release(&b1);
    run_data_release(&b2);
    return v;
}

TEST(a_suspect_stands_or_falls)
{
    const double base[] = {10.4, 10.5, 10.6}, same[] = {10.45, 10.52, 10.55}, slower[] = {11.4, 11.5, 11.6};
    assert_int_equal(confirmed_verdict(base, slower, 3, CONFIRM_STANDS), VERDICT_REGRESSED);
    assert_int_equal(confirmed_verdict(base, same, 3, CONFIRM_REFUTED), VERDICT_NOISY);
    assert_int_equal(confirmed_verdict(base, same, 0, CONFIRM_UNDECIDED), VERDICT_REGRESSED);
    /* The base's own build was 10 s when it was stored: if it is slow too, the node is. */
    const double slow_node[] = {34.9, 35.0, 35.1};
    assert_int_equal(confirmed_verdict(slow_node, slow_node, 3, CONFIRM_NODE), VERDICT_NOISY);
    /* Repetitions that say nothing refute nothing. */
    const double wild[] = {9.0, 11.0, 14.0};
    assert_int_equal(confirmed_verdict(base, wild, 3, CONFIRM_UNDECIDED), VERDICT_REGRESSED);
}

TEST(an_outcome_is_remembered)
{
    struct err err = {0};
    AUTO(store_close) struct store s = open_store("confirmed.db");
    struct draft d;
    struct against a;
    struct comparison c;
    const struct compare_options o = compare_defaults();
    draft_night(&d, 0);
    draft_shot(&d, "v", 4096, 1, 10);
    int64_t base = must_store(&s, &d);
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, 11);
    int64_t key = must_store(&s, &d);
    AUTO(run_data_release) struct run_data now = must_load(&s, key);
    assert_ok(against_run(&s, &now, base, &o, &a, &err), &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    assert_int_equal(c.deltas[0].verdict, VERDICT_REGRESSED);
    c.deltas[0].confirmation = CONFIRM_UNDECIDED;
    c.deltas[0].doubts.undecided = UNDECIDED_OTHER_BUILD;
    assert_ok(confirm_save(&s, key, base, &c, &err), &err);
    comparison_release(&c);
    against_release(&a);
    assert_ok(against_run(&s, &now, base, &o, &a, &err), &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    assert_int_equal(c.deltas[0].verdict, VERDICT_REGRESSED);
    assert_int_equal(c.deltas[0].doubts.undecided, UNDECIDED_OTHER_BUILD);
    c.deltas[0].confirmation = CONFIRM_REFUTED;
    assert_ok(confirm_save(&s, key, base, &c, &err), &err);
    comparison_release(&c);
    against_release(&a);
    assert_ok(against_run(&s, &now, base, &o, &a, &err), &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    assert_int_equal(c.deltas[0].verdict, VERDICT_NOISY);
    assert_int_equal(c.deltas[0].confirmation, CONFIRM_REFUTED);
    assert_false(comparison_regressed(&c));
    comparison_release(&c);
    against_release(&a);
}

GROUP(scratch_make, scratch_remove);
