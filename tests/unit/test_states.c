/* compare: verdicts that follow from what was measured and what was not; whatever was not measured says
 * nothing, and "unchanged" says that a change would have been found. */
#include "tests/unit/results_support.h"

#include "reports/tables/causes.h"
#include "reports/tables/shift.h"
#include "reports/tables/tables.h"
#include "results/judge/compare.h"
#include "results/judge/judge.h"
#include "results/judge/turns.h"
#include "results/judge/within.h"
#include "results/query/against.h"
#include "results/stats/stats.h"

enum { CONTEXT = 4096 };

static struct run_data one_test(int night, enum status status)
{
    struct draft d;
    draft_night(&d, night);
    draft_shot(&d, "v", CONTEXT, 1, 10)->status = status;
    return run_of_draft(&d);
}

/* Owns both runs. */
static struct delta verdict_of(struct run_data base, struct run_data now)
{
    const struct compare_options o = compare_defaults();
    struct comparison c;
    compare_runs(&base, &now, NULL, &o, &c);
    assert_int_equal(c.count, 1);
    struct delta d = c.deltas[0];
    comparison_release(&c);
    run_data_release(&base);
    run_data_release(&now);
    return d;
}

TEST(a_stopped_test_is_missing)
{
    static const enum status stopped[] = {STATUS_CANCELLED, STATUS_INTERRUPTED, STATUS_SKIPPED};
    for (size_t i = 0; i < COUNT(stopped); i++) {
        struct delta d = verdict_of(one_test(0, STATUS_OK), one_test(1, stopped[i]));
        assert_int_equal(d.verdict, VERDICT_MISSING);
        assert_non_null(strstr(verdict_reason(&d, REPORT_EN).s, "OK in the base, now"));
        assert_non_null(strstr(verdict_reason(&d, REPORT_EN).s, status_name(stopped[i])));
        d = verdict_of(one_test(0, STATUS_CRASH), one_test(1, stopped[i]));
        assert_int_equal(d.verdict, VERDICT_MISSING);
        d = verdict_of(one_test(0, stopped[i]), one_test(1, STATUS_OK));
        assert_int_equal(d.verdict, VERDICT_NEW);
        assert_int_equal(d.reason, REASON_STATUS);
        d = verdict_of(one_test(0, stopped[i]), one_test(1, STATUS_CRASH));
        assert_int_equal(d.verdict, VERDICT_NEW);
    }
    assert_int_equal(verdict_of(one_test(0, STATUS_OK), one_test(1, STATUS_CRASH)).verdict, VERDICT_BROKEN);
    assert_int_equal(verdict_of(one_test(0, STATUS_HANG), one_test(1, STATUS_OK)).verdict, VERDICT_FIXED);
}

TEST(what_is_not_built_is_broken)
{
    struct run_data now = one_test(1, STATUS_SKIPPED);
    now.variants[0].status = STATUS_BUILD_FAILED;
    assert_int_equal(verdict_of(one_test(0, STATUS_OK), now).verdict, VERDICT_BROKEN);
}

/* One repetition crashed and the user stopped the others. */
TEST(a_crash_before_the_end_is_broken)
{
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "v", CONTEXT, 1, 10)->status = STATUS_CRASH;
    draft_shot(&d, "v", CONTEXT, 2, 10)->status = STATUS_CANCELLED;
    assert_int_equal(verdict_of(one_test(0, STATUS_OK), run_of_draft(&d)).verdict, VERDICT_BROKEN);
}

static struct run_data one_warmup(int night, enum status status)
{
    struct draft d;
    draft_night(&d, night);
    struct run_test *t = draft_shot(&d, "v", CONTEXT, 1, 10);
    t->warmup = true;
    t->status = status;
    return run_of_draft(&d);
}

TEST(warmups_measure_nothing)
{
    struct delta d = verdict_of(one_test(0, STATUS_FAIL), one_warmup(1, STATUS_OK));
    assert_int_equal(d.verdict, VERDICT_MISSING);
    assert_non_null(strstr(verdict_reason(&d, REPORT_EN).s, "only its warm-ups ran"));
    assert_int_equal(verdict_of(one_test(0, STATUS_FAIL), one_warmup(1, STATUS_CANCELLED)).verdict,
                     VERDICT_MISSING);
    assert_int_equal(verdict_of(one_warmup(0, STATUS_OK), one_test(1, STATUS_CRASH)).verdict, VERDICT_NEW);
    assert_int_equal(verdict_of(one_test(0, STATUS_OK), one_warmup(1, STATUS_CRASH)).verdict, VERDICT_BROKEN);
}

/* Scratch memory of fifteen nights: 64 bytes up to night 5 if `once`, then none. */
static enum verdict against_scratch(bool once, double tonight)
{
    enum { NIGHTS_OF_SCRATCH = 15 };
    struct compare_options o = compare_defaults();
    struct history h = {.series = calloc(1, sizeof *h.series), .count = 1, .nights = NIGHTS_OF_SCRATCH};
    struct history_series *s = h.series;
    struct comparison c;
    struct draft d;
    snprintf(s->variant, sizeof s->variant, "v");
    s->context = CONTEXT;
    s->metric = o.metric = METRIC_SCRATCH_BYTES;
    s->points = calloc(NIGHTS_OF_SCRATCH, sizeof *s->points);
    for (size_t i = 0; i < NIGHTS_OF_SCRATCH; i++)
        s->points[s->count++] = (struct history_point){.run_key = (int64_t)i + 1,
                                                       .median = once && i < 5 ? 64 : 0,
                                                       .n = 3,
                                                       .measured_at = 86400000LL * (int64_t)i,
                                                       .within = NAN};
    draft_night(&d, 20);
    draft_shot(&d, "v", CONTEXT, 1, 10);
    d.variants[0].value[METRIC_SCRATCH_BYTES] = tonight;
    struct run_data r = run_of_draft(&d);
    compare_runs(NULL, &r, &h, &o, &c);
    enum verdict verdict = c.deltas[0].verdict;
    comparison_release(&c);
    run_data_release(&r);
    history_release(&h);
    return verdict;
}

TEST(an_exact_property_is_compared_with_the_night_before)
{
    assert_int_equal(against_scratch(true, 64), VERDICT_REGRESSED);
    assert_int_equal(against_scratch(true, 0), VERDICT_UNCHANGED);
    assert_int_equal(against_scratch(false, 64), VERDICT_REGRESSED);
    assert_int_equal(against_scratch(false, 0), VERDICT_UNCHANGED);
}

/* Pairs of runs that differ by `slower`; returns how many are called unchanged, none of which may say that
 * only larger changes than the threshold would have been found. */
static int unchanged_of(int pairs, int repetitions, double sd, double slower)
{
    const struct compare_options o = compare_defaults();
    struct stats_rng rng;
    int unchanged = 0;
    stats_rng_seed(&rng, 1);
    for (int pair = 0; pair < pairs; pair++) {
        struct run_data side[2];
        for (int k = 0; k < 2; k++) {
            struct draft d;
            draft_night(&d, k);
            for (int r = 1; r <= repetitions; r++)
                draft_shot(&d, "v", CONTEXT, r, 10 * (1 + k * slower) * exp(sd * stats_rng_normal(&rng)));
            side[k] = run_of_draft(&d);
        }
        struct delta d = verdict_of(side[0], side[1]);
        if (d.verdict != VERDICT_UNCHANGED)
            continue;
        unchanged++;
        assert_true(d.estimate.detectable <= o.regression);
    }
    return unchanged;
}

TEST(unchanged_says_that_a_change_would_have_been_found)
{
    assert_true(unchanged_of(200, 5, 0.03, 0.06) < 20);
    assert_true(unchanged_of(200, 10, 0.042, 0.06) < 20);
    assert_true(unchanged_of(200, 3, 0.02, 0.06) < 40);
    assert_true(unchanged_of(200, 5, 0.005, 0) > 190);
}

static int64_t store_a_night(struct store *s, int night, double prefill_s, double wall_s)
{
    struct draft d;
    draft_night(&d, night);
    struct run_test *t = draft_shot(&d, "v", CONTEXT, 1, prefill_s);
    t->value[METRIC_WALL_S] = wall_s;
    return must_store(s, &d);
}

static struct delta against_the_nights(struct store *s, int64_t key, enum metric *primary)
{
    const struct compare_options o = compare_defaults();
    struct run_data now = must_load(s, key);
    struct against a;
    struct comparison c;
    struct err err = {0};
    assert_ok(against_nights(s, &now, &o, &a, &err), &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    assert_int_equal(c.count, 1);
    struct delta d = c.deltas[0];
    *primary = c.primary;
    comparison_release(&c);
    against_release(&a);
    run_data_release(&now);
    return d;
}

/* Its wall time of a millisecond is not what the nights were about. */
TEST(a_metric_that_is_no_longer_printed_is_missing)
{
    AUTO(store_close) struct store s = open_store("lost.db");
    struct buf text;
    enum metric primary;
    for (int night = 0; night < 10; night++)
        store_a_night(&s, night, 10 + 0.01 * night, 11);
    struct delta d = against_the_nights(&s, store_a_night(&s, 10, NAN, 0.001), &primary);
    assert_int_equal(primary, METRIC_PREFILL_S);
    assert_int_equal(d.verdict, VERDICT_MISSING);
    buf_init(&text, 4096);
    verdict_evidence(&d, REPORT_EN, &text);
    assert_string_equal(buf_str(&text), "prefill_s was measured before, and is not in this run");
    buf_release(&text);
    d = against_the_nights(&s, store_a_night(&s, 11, NAN, 0.001), &primary);
    assert_int_equal(primary, METRIC_WALL_S);
    d = against_the_nights(&s, store_a_night(&s, 12, 10, 11), &primary);
    assert_int_equal(primary, METRIC_PREFILL_S);
}

/* Whose causes those of the common factor are said to be. */
static char *said_of_causes(const struct comparison *c)
{
    struct cause unknown = {.kind = CAUSE_UNEXPLAINED};
    struct cell_causes of_all = {.items = &unknown, .count = 1};
    struct comparison copy = *c;
    struct why why;
    struct buf text;
    copy.causes = (struct causes){.cells = &of_all, .count = 1};
    buf_init(&text, 4096);
    why_of(&copy, REPORT_EN, &why);
    why_where(&why.lines[0], REPORT_EN, &text);
    why_release(&why);
    return buf_steal(&text);
}

TEST(a_common_factor_names_the_cells_that_have_it)
{
    struct comparison c = {.primary = METRIC_PREFILL_S,
                           .shift = {.known = true,
                                     .found = true,
                                     .worse = true,
                                     .from_controls = true,
                                     .ratio = 1.1,
                                     .p = 0,
                                     .cells = 9,
                                     .agree = 9}};
    AUTO(buf_release) struct buf text = {.max = 4096};
    verdict_shift(&c, REPORT_EN, &text);
    assert_non_null(strstr(buf_str(&text), "measured on 9 cells"));
    char *where = said_of_causes(&c);
    assert_string_equal(where, "all cells");
    free(where);
    buf_clear(&text);
    c.shift.agree = 6;
    c.shift.from_controls = false;
    verdict_shift(&c, REPORT_EN, &text);
    assert_non_null(strstr(buf_str(&text), "Most cells are 10 % slower together, measured on 6 of 9 cells"));
    where = said_of_causes(&c);
    assert_string_equal(where, "most cells");
    free(where);
}

/* A slower card makes no slower node. */
TEST(what_all_cells_lost_on_another_gpu_is_not_the_nodes)
{
    struct comparison c = {.primary = METRIC_PREFILL_S,
                           .shift = {.known = true,
                                     .found = true,
                                     .worse = true,
                                     .device_changed = true,
                                     .from_controls = true,
                                     .ratio = 1.05,
                                     .cells = 9,
                                     .agree = 9}};
    for (int confirmed = 0; confirmed < 2; confirmed++) {
        struct buf text;
        buf_init(&text, 4096);
        verdict_shift(&c, REPORT_EN, &text);
        assert_null(strstr(buf_str(&text), "The node is"));
        assert_non_null(
            strstr(buf_str(&text), "All cells are 5 % slower together on a different GPU than before"));
        buf_release(&text);
        c.shift.from_controls = false;
        c.shift.confirmed = SHIFT_NODE;
    }
}

/* What is said of a factor that all cells share: of six cells that two runs alone compared. */
static char *said_of_shift(struct comparison *c, enum confirmation measured_again)
{
    struct delta deltas[6];
    struct buf text;
    for (size_t i = 0; i < COUNT(deltas); i++)
        deltas[i] = (struct delta){.metric = c->primary,
                                   .estimate.method = METHOD_THRESHOLD,
                                   .estimate.ratio = 1,
                                   .confirmation = measured_again};
    c->deltas = deltas;
    c->count = COUNT(deltas);
    c->shift = (struct common_shift){.known = true,
                                     .found = true,
                                     .worse = c->shift.worse,
                                     .since_base = true,
                                     .ratio = 1.1,
                                     .p = NAN,
                                     .cells = 6,
                                     .agree = 6};
    buf_init(&text, 4096);
    verdict_shift(c, REPORT_EN, &text);
    return buf_steal(&text);
}

TEST(confirming_is_offered_only_where_it_can_tell)
{
    struct comparison c = {.primary = METRIC_PREFILL_S, .base_id = "gold", .shift.worse = true};
    char *text = said_of_shift(&c, CONFIRM_NOT_ASKED);
    assert_non_null(strstr(text, "All cells are 10 % slower together"));
    assert_non_null(strstr(text, "is unknown; `--confirm` finds out"));
    free(text);
    text = said_of_shift(&c, CONFIRM_UNDECIDED);
    assert_null(strstr(text, "--confirm"));
    assert_non_null(strstr(text, "measuring both builds again, alternately, did not settle it"));
    free(text);
    c.mixed_base = true;
    text = said_of_shift(&c, CONFIRM_NOT_ASKED);
    assert_non_null(strstr(text, "the cause is unknown. "));
    free(text);
    c.mixed_base = c.shift.worse = false;
    text = said_of_shift(&c, CONFIRM_NOT_ASKED);
    assert_non_null(strstr(text, "the cause is unknown. "));
    free(text);
    c.shift.worse = true;
    c.base_id[0] = '\0';
    text = said_of_shift(&c, CONFIRM_NOT_ASKED);
    assert_non_null(strstr(text, "the cause is unknown. "));
    free(text);
}

TEST(what_is_no_time_is_worse_not_slower)
{
    struct comparison c = {.primary = METRIC_JOULES, .base_id = "gold", .shift.worse = true};
    AUTO_FREE char *text = said_of_shift(&c, CONFIRM_NOT_ASKED);
    assert_non_null(strstr(text, "All cells are 10 % worse in joules together"));
}

TEST(code_that_is_slower_on_another_gpu_is_a_regression)
{
    struct comparison c = {.shift = {.found = true, .worse = true, .device_changed = true}};
    assert_false(comparison_regressed(&c));
    c.shift.confirmed = SHIFT_NODE;
    assert_false(comparison_regressed(&c));
    c.shift.confirmed = SHIFT_CODE;
    assert_true(comparison_regressed(&c));
}

/* The evidence of a cell of two runs, by this metric. */
static char *evidence_of_values(enum metric m, const double *base, const double *now, size_t n)
{
    const struct compare_options o = compare_defaults();
    const struct pair v = {.base = base, .base_n = n, .now = now, .now_n = n};
    struct delta d = {0};
    struct buf text;
    turns_judge_values(&v, m, &o, &d);
    buf_init(&text, 4096);
    verdict_evidence(&d, REPORT_EN, &text);
    return buf_steal(&text);
}

static void assert_night_evidence(int nights, const char *said)
{
    const struct delta d = {.metric = METRIC_PREFILL_S,
                            .estimate.method = METHOD_NIGHTS,
                            .reference.kind = REFERENCE_BASE,
                            .reference.nights = nights,
                            .reference.value = 1,
                            .reference.common = 1,
                            .reference.own = 1};
    AUTO(buf_release) struct buf text = {.max = 4096};
    verdict_evidence(&d, REPORT_EN, &text);
    if (!strstr(buf_str(&text), said))
        fail_msg("'%s' lacks '%s'", buf_str(&text), said);
}

TEST(the_nights_of_a_base_are_counted_in_words_that_fit)
{
    assert_night_evidence(1, "against the expected 1.00 s, that of one night of the base; ");
    assert_night_evidence(3, "against the expected 1.00 s, the level of 3 nights of the base; ");
}

TEST(what_decides_stands_in_the_evidence)
{
    const double fast[] = {1, 1.001, 1.002}, mixed[] = {1.3, 1.301, 1.0005}, slow[] = {1.3, 1.301, 1.302};
    const double short_before[] = {0.01, 0.01, 0.01}, short_now[] = {0.014, 0.014, 0.014};
    char *text = evidence_of_values(METRIC_PREFILL_S, fast, mixed, 3);
    assert_non_null(strstr(text, "; the repetitions disagree: not all of them show the change"));
    free(text);
    text = evidence_of_values(METRIC_PREFILL_S, fast, slow, 3);
    assert_null(strstr(text, "disagree"));
    assert_null(strstr(text, "may be chance"));
    free(text);
    text = evidence_of_values(METRIC_WALL_S, short_before, short_now, 3);
    assert_non_null(strstr(text, "; +4.000 ms, of which up to 5 ms may be chance"));
    free(text);
}

TEST(a_value_of_zero_has_no_ratio)
{
    const double none[] = {0, 0, 0}, some[] = {5, 5, 5};
    char *text = evidence_of_values(METRIC_KERNEL_MS, none, none, 3);
    assert_string_equal(text, "0 before and now");
    free(text);
    text = evidence_of_values(METRIC_KERNEL_MS, none, some, 3);
    assert_string_equal(text, "no ratio: a value is not positive");
    free(text);
}

/* On n repetitions a side; the reason has to contain `said`. */
static enum verdict verdict_of_values(enum metric m, const double *base, const double *now, size_t n,
                                      const char *said)
{
    const struct compare_options o = compare_defaults();
    const struct pair v = {.base = base, .base_n = n, .now = now, .now_n = n};
    struct delta d = {0};
    turns_judge_values(&v, m, &o, &d);
    if (!strstr(verdict_reason(&d, REPORT_EN).s, said))
        fail_msg("'%s' lacks '%s'", verdict_reason(&d, REPORT_EN).s, said);
    return d.verdict;
}

TEST(ranks_judge_what_was_zero)
{
    const double none[] = {0, 0, 0, 0, 0}, some[] = {5, 6, 5, 4, 5}, once[] = {0, 0, 1, 0, 1},
                 mixed[] = {0, 3, 0, 3, 3}, tiny[] = {9e-6, 9e-6, 9e-6, 9e-6, 9e-6},
                 below[] = {-1, -1, -1, -1, -1};
    enum metric m = METRIC_KERNEL_MS;
    assert_int_equal(
        verdict_of_values(m, none, some, 5, "0 -> 5 ms: n = 5 and 5, exact Mann-Whitney p = 0.0079"),
        VERDICT_REGRESSED);
    assert_int_equal(verdict_of_values(m, some, none, 5, "5 -> 0 ms: n = 5 and 5"), VERDICT_IMPROVED);
    assert_int_equal(verdict_of_values(METRIC_TFLOPS, some, none, 4, "p = 0.029"), VERDICT_REGRESSED);
    assert_int_equal(verdict_of_values(METRIC_TFLOPS, none, some, 4, "p = 0.029"), VERDICT_IMPROVED);
    assert_int_equal(verdict_of_values(m, once, mixed, 5, "not significant"), VERDICT_NOISY);
    assert_int_equal(verdict_of_values(m, none, some, 3, "no ratio: a value is not positive"), VERDICT_NOISY);
    assert_int_equal(verdict_of_values(m, none, tiny, 5, "may be chance"), VERDICT_UNCHANGED);
    assert_int_equal(verdict_of_values(m, below, some, 5, "no ratio: a value is not positive"),
                     VERDICT_NOISY);
    char *text = evidence_of_values(m, none, some, 5);
    assert_string_equal(
        text,
        "n = 5 and 5, exact Mann-Whitney p = 0.0079, 0.0079 adjusted for all cells; there is no ratio to 0");
    free(text);
    text = evidence_of_values(m, none, tiny, 5);
    assert_non_null(strstr(text, "of which up to 0.0001 ms may be chance"));
    free(text);
}

/* Of ten values a side. */
static void assert_reason(struct delta d, const char *said)
{
    const struct compare_options o = compare_defaults();
    struct t_limit limit = {0};
    d.metric = METRIC_PREFILL_S;
    d.base.status = d.now.status = STATUS_OK;
    d.base.present = d.now.present = true;
    d.base.n = d.now.n = 10;
    d.reference.value = 1;
    d.now.median = d.estimate.ratio = 1.2;
    d.estimate.threshold = 0.02;
    judge_decide(&o, 1, &limit, &d);
    assert_int_equal(d.verdict, VERDICT_NOISY);
    if (!strstr(verdict_reason(&d, REPORT_EN).s, said))
        fail_msg("'%s' lacks '%s'", verdict_reason(&d, REPORT_EN).s, said);
}

TEST(a_reason_names_what_does_not_suffice)
{
    const double sure = 1e-4, unsure = 0.4;
    assert_reason((struct delta){.estimate.method = METHOD_BOOTSTRAP,
                                 .estimate.p = unsure,
                                 .estimate.p_adjusted = unsure,
                                 .estimate.low = 1.1,
                                 .estimate.high = 1.3},
                  "not significant (p = 0.4)");
    assert_reason((struct delta){.estimate.method = METHOD_BOOTSTRAP,
                                 .estimate.p = sure,
                                 .estimate.p_adjusted = sure,
                                 .estimate.low = 0.98,
                                 .estimate.high = 1.3},
                  "interval of the ratio 0.980 to 1.300");
    assert_reason((struct delta){.estimate.method = METHOD_MANN_WHITNEY,
                                 .estimate.p = sure,
                                 .estimate.p_adjusted = sure,
                                 .reference.common_error = 0.2},
                  "the factor that all cells share is known only to within 39.2 %");
}

TEST(nights_of_zero_were_measured)
{
    struct compare_options o = compare_defaults();
    struct history_point points[12];
    struct history_series series = {
        .variant = "v3", .context = CONTEXT, .metric = METRIC_KERNEL_MS, .points = points, .count = 12};
    struct history h = {.series = &series, .count = 1, .nights = 12};
    struct comparison c;
    struct draft d;
    o.metric = METRIC_KERNEL_MS;
    for (size_t i = 0; i < COUNT(points); i++)
        points[i] = (struct history_point){.run_key = (int64_t)i + 1, .median = 0, .n = 3, .within = NAN};
    for (int now = 0; now < 2; now++) {
        draft_night(&d, 20);
        for (int r = 1; r <= 3; r++)
            draft_shot(&d, "v3", CONTEXT, r, 1)->value[METRIC_KERNEL_MS] = now;
        AUTO(run_data_release) struct run_data run = run_of_draft(&d);
        AUTO(buf_release) struct buf text = {.max = 4096};
        compare_runs(NULL, &run, &h, &o, &c);
        assert_int_equal(c.deltas[0].verdict, now ? VERDICT_NOISY : VERDICT_UNCHANGED);
        verdict_evidence(&c.deltas[0], REPORT_EN, &text);
        assert_string_equal(buf_str(&text), now ? "no ratio: a value is not positive" : "0 before and now");
        comparison_release(&c);
    }
}

TEST(nights_have_no_base)
{
    static const struct {
        enum reason_code reason;
        enum status now;
        const char *words;
    } cases[] = {{REASON_FEW_NIGHTS, STATUS_OK, "too few nights of history for a verdict (3)"},
                 {REASON_STATUS, STATUS_CRASH, "OK on earlier nights, now CRASH"},
                 {REASON_MISSING, STATUS_OK, "OK the night before, absent from this run"},
                 {REASON_NEW, STATUS_OK, "not measured on earlier nights, now OK"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct delta d = delta_of("v", CONTEXT, METRIC_PREFILL_S);
        d.compared = COMPARED_NIGHTS;
        d.reason = cases[i].reason;
        d.now.status = cases[i].now;
        d.reference.history_n = 3;
        assert_string_equal(verdict_reason(&d, REPORT_EN).s, cases[i].words);
    }
}

TEST(within_a_run_the_unmeasured_is_missing)
{
    const struct compare_options o = compare_defaults();
    AUTO(comparison_release) struct comparison c = {0};
    struct draft d;
    draft_night(&d, 0);
    draft_shot(&d, "baseline", 1024, 1, 10);
    draft_shot(&d, "baseline", CONTEXT, 1, 10);
    draft_shot(&d, "v3", 1024, 1, 5);
    AUTO(run_data_release) struct run_data r = run_of_draft(&d);
    r.unmeasured = calloc(1, sizeof *r.unmeasured);
    r.n_unmeasured = 1;
    snprintf(r.unmeasured[0].variant, sizeof r.unmeasured[0].variant, "v3");
    r.unmeasured[0].context = CONTEXT;
    compare_within(&r, 0, &o, &c);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.deltas[1].context, CONTEXT);
    assert_int_equal(c.deltas[1].verdict, VERDICT_MISSING);
}

/* Half the time and twice the memory. */
TEST(within_a_run_only_a_time_is_a_speed)
{
    struct compare_options o = compare_defaults();
    struct comparison c;
    struct draft d;
    draft_night(&d, 0);
    for (int r = 1; r <= 3; r++) {
        draft_shot(&d, "baseline", 1024, r, 10)->value[METRIC_VRAM_PEAK] = 8e9;
        draft_shot(&d, "v3", 1024, r, 5)->value[METRIC_VRAM_PEAK] = 16e9;
    }
    AUTO(run_data_release) struct run_data r = run_of_draft(&d);
    compare_within(&r, 0, &o, &c);
    assert_non_null(strstr(verdict_reason(&c.deltas[0], REPORT_EN).s, "2.00x the speed of the reference"));
    comparison_release(&c);
    o.metric = METRIC_VRAM_PEAK;
    compare_within(&r, 0, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_REGRESSED);
    assert_non_null(
        strstr(verdict_reason(&c.deltas[0], REPORT_EN).s, "2.00x the vram_peak_bytes of the reference"));
    assert_true(isnan(c.deltas[0].estimate.detectable));
    comparison_release(&c);
}

GROUP(scratch_make, scratch_remove);
