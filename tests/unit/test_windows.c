/* windows: energy and clocks of different parts of a test, or measured in different ways, are not compared.
 */
#include "tests/unit/results_support.h"

#include "results/judge/causes/causes_find.h"
#include "results/judge/turns.h"
#include "results/query/against.h"

enum { REPETITIONS = 6, NIGHTS = 12 };

/* How the energy and the clock of a run were sampled, and what they were. */
struct sampling {
    const char *window;
    bool measured;
    double joules, mhz, prefill_s;
};

static const struct sampling timed = {"timed", true, 100, 2000, 1}, whole = {"test", true, 150, 1500, 1.2},
                             by_power = {"timed", false, 108, 2000, 1},
                             hungry = {"timed", true, 150, 2000, 1};

static struct draft draft_of(int night, const struct sampling *s)
{
    struct draft d;
    draft_night(&d, night);
    for (int r = 1; r <= REPETITIONS; r++) {
        double wobble = 1 + 0.0005 * ((night * 7 + r * 3) % 11);
        struct run_test *t = draft_shot(&d, "v", 4096, r, s->prefill_s * wobble);
        t->value[METRIC_JOULES] = s->joules * wobble;
        t->value[METRIC_SCLK_MHZ] = s->mhz / wobble;
        t->activity.joules_measured = s->measured;
        snprintf(t->activity.window, sizeof t->activity.window, "%s", s->window);
    }
    return d;
}

static struct run_data run_with(int night, const struct sampling *s)
{
    struct draft d = draft_of(night, s);
    struct run_data r = run_of_draft(&d);
    r.info.key = night + 1;
    return r;
}

static enum verdict verdict_between(const struct sampling *before, const struct sampling *after,
                                    enum metric m, enum reason_code *reason)
{
    struct run_data base = run_with(0, before), now = run_with(1, after);
    struct compare_options o = compare_defaults();
    struct comparison c;
    o.metric = m;
    compare_runs(&base, &now, NULL, &o, &c);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.deltas[0].metric, m);
    enum verdict v = c.deltas[0].verdict;
    *reason = c.deltas[0].reason;
    comparison_release(&c);
    run_data_release(&base);
    run_data_release(&now);
    return v;
}

TEST(energy_of_different_windows_gets_no_verdict)
{
    enum reason_code reason;
    assert_int_equal(verdict_between(&timed, &hungry, METRIC_JOULES, &reason), VERDICT_REGRESSED);
    assert_int_equal(verdict_between(&timed, &whole, METRIC_JOULES, &reason), VERDICT_NOISY);
    assert_int_equal(reason, REASON_OTHER_WINDOW);
    assert_int_equal(verdict_between(&timed, &whole, METRIC_SCLK_MHZ, &reason), VERDICT_NOISY);
    assert_int_equal(verdict_between(&timed, &whole, METRIC_PREFILL_S, &reason), VERDICT_REGRESSED);
}

TEST(energy_of_different_meters_gets_no_verdict)
{
    enum reason_code reason;
    assert_int_equal(verdict_between(&timed, &by_power, METRIC_JOULES, &reason), VERDICT_NOISY);
    assert_int_equal(reason, REASON_OTHER_METER);
    assert_int_equal(verdict_between(&timed, &by_power, METRIC_SCLK_MHZ, &reason), VERDICT_UNCHANGED);
}

TEST(a_run_with_two_windows_gets_no_verdict)
{
    struct run_data base = run_with(0, &timed), now = run_with(1, &hungry);
    struct compare_options o = compare_defaults();
    AUTO(comparison_release) struct comparison c = {0};
    o.metric = METRIC_JOULES;
    snprintf(now.tests[2].activity.window, sizeof now.tests[2].activity.window, "busy");
    compare_runs(&base, &now, NULL, &o, &c);
    assert_int_equal(c.deltas[0].verdict, VERDICT_NOISY);
    run_data_release(&base);
    run_data_release(&now);
}

TEST(turns_of_different_windows_are_undecided)
{
    struct run_data base = run_with(0, &timed), now = run_with(1, &whole);
    const struct run_data *bases[] = {&base}, *nows[] = {&now};
    const struct compare_options o = compare_defaults();
    struct delta d = {.variant = "v", .context = 4096, .metric = METRIC_JOULES};
    turns_judge(&(struct turns_runs){bases, 1}, &(struct turns_runs){nows, 1}, &o, &d);
    assert_int_equal(d.verdict, VERDICT_NOISY);
    d.metric = METRIC_PREFILL_S;
    turns_judge(&(struct turns_runs){bases, 1}, &(struct turns_runs){nows, 1}, &o, &d);
    assert_int_equal(d.verdict, VERDICT_REGRESSED);
    run_data_release(&base);
    run_data_release(&now);
}

/* The verdict on tonight's energy, after nights of another sampling. */
static enum verdict verdict_after_nights(const char *db, const struct sampling *before,
                                         const struct sampling *tonight)
{
    struct store s = open_store(db);
    struct compare_options o = compare_defaults();
    struct against a;
    struct comparison c;
    struct err err = {0};
    o.metric = METRIC_JOULES;
    for (int i = 0; i < NIGHTS; i++) {
        struct draft d = draft_of(i, before);
        must_store(&s, &d);
    }
    struct draft d = draft_of(NIGHTS, tonight);
    struct run_data now = must_load(&s, must_store(&s, &d));
    assert_ok(against_nights(&s, &now, &o, &a, &err), &err);
    assert_ok(against_compare(&a, &now, &c, &err), &err);
    enum verdict v = c.count ? c.deltas[0].verdict : VERDICT_NEW;
    comparison_release(&c);
    against_release(&a);
    run_data_release(&now);
    store_close(&s);
    return v;
}

TEST(nights_of_another_window_do_not_count)
{
    assert_int_equal(verdict_after_nights("same.db", &timed, &hungry), VERDICT_SUSPECTED);
    assert_int_equal(verdict_after_nights("whole.db", &timed, &whole), VERDICT_NEW);
    assert_int_equal(verdict_after_nights("power.db", &timed, &by_power), VERDICT_NEW);
}

/* The mean clock of a whole test includes its idle parts. */
TEST(a_clock_of_another_window_is_no_cause)
{
    struct run_data base = run_with(0, &timed), now = run_with(1, &whole);
    const struct compare_options o = compare_defaults();
    AUTO(comparison_release) struct comparison c = {0};
    compare_runs(&base, &now, NULL, &o, &c);
    const struct cause_run before = {.run = &base};
    const struct causes_input in = {.now = {.run = &now}, .base_key = 1, .befores = &before, .n_befores = 1};
    causes_find(&in, &c, &c.causes);
    assert_null(causes_kind(causes_of(&c.causes, "v", 4096), CAUSE_CLOCK));
    run_data_release(&base);
    run_data_release(&now);
}

GROUP(scratch_make, scratch_remove);
