/* levels: a base that is older or newer than the level of the newest nights. */
#include "tests/unit/levels_support.h"

#include "results/judge/compare.h"
#include "results/judge/confirm.h"
#include "results/store/identity.h"

/* All cells were made faster, to `level`, after the base, and tonight they are 15 % slower than that: what
 * measuring again, in alternation with the base's build, says of it. */
static enum shift_cause cause_since_base(double level, double base_again)
{
    struct plan_nights p;
    struct comparison c;
    struct compare_options o = compare_defaults();
    const int64_t base_run = 3;
    make_nights(&p);
    for (int i = 0; i < CELLS; i++) {
        snprintf(p.series[i].variant, sizeof p.series[i].variant, i < CELLS / 2 ? "v" : "w");
        for (int n = 8; n < NIGHTS; n++)
            p.points[i][n].median *= level;
    }
    o.base_runs = &base_run;
    o.n_base_runs = 1;
    struct run_data base = night_of(3, 1), now = night_of(30, level * 1.15), a = night_of(31, base_again);
    compare_runs(&base, &now, &p.history, &o, &c);
    assert_true(c.shift.found && c.shift.worse && !c.shift.from_controls && !c.shift.since_base);
    assert_near(c.shift.ratio, 1.15, 0.02);
    enum shift_cause cause = cause_measured_again(&c, level < 1 ? 0 : 4, &a, &now, &o);
    comparison_release(&c);
    run_data_release(&base);
    run_data_release(&now);
    run_data_release(&a);
    return cause;
}

TEST(the_build_of_an_old_base_does_not_tell_whose_a_common_factor_is)
{
    assert_int_equal(cause_since_base(1, 1.15), SHIFT_NODE);
    assert_int_equal(cause_since_base(1, 1), SHIFT_CODE);
    assert_int_equal(cause_since_base(0.8, 1), SHIFT_UNSETTLED);
    assert_int_equal(cause_since_base(0.8, 1.15), SHIFT_UNSETTLED);
}

/* A baseline that is older than an improvement of one cell, and tonight: that cell lost some of it. */
struct improved {
    struct plan_nights nights;
    struct run_data base, now;
    struct comparison c;
};

static void make_cells_again(struct run_data *run)
{
    free(run->cells);
    run->n_cells = 0;
    run_data_make_cells(run);
}

/* The values of the improved cell are multiplied by factor. */
static struct run_data improved_night(int number, double factor)
{
    struct run_data run = night_of(number, 1.05);
    for (size_t i = 0; i < run.n_tests; i++)
        if (run.tests[i].context == 1002)
            run.tests[i].value[METRIC_PREFILL_S] *= factor;
    make_cells_again(&run);
    return run;
}

/* The node is 5 % slower since the tenth night, and one cell was made faster before. */
static void make_improved(struct improved *p)
{
    struct compare_options o = compare_defaults();
    const int64_t base_run = 3;
    make_nights(&p->nights);
    for (int i = 0; i < CELLS; i++)
        for (int n = 8; n < NIGHTS; n++) {
            snprintf(p->nights.series[i].variant, sizeof p->nights.series[i].variant,
                     i < CELLS / 2 ? "v" : "w");
            p->nights.points[i][n].median *= (n >= 10 ? 1.05 : 1) * (i == 2 ? 0.8 : 1);
        }
    o.base_runs = &base_run;
    o.n_base_runs = 1;
    p->base = night_of(3, 1);
    p->now = improved_night(30, 0.8 * 1.1);
    compare_runs(&p->base, &p->now, &p->nights.history, &o, &p->c);
    assert_int_equal(p->c.deltas[2].context, 1002);
    assert_int_equal(p->c.deltas[2].verdict, VERDICT_SUSPECTED);
    assert_int_equal(p->c.deltas[2].reference.kind, REFERENCE_LEVEL);
}

static void release_improved(struct improved *p)
{
    comparison_release(&p->c);
    run_data_release(&p->base);
    run_data_release(&p->now);
}

/* A loss of that cell is judged by the newest nights. The node has been slow in them, which nobody accepted.
 */
TEST(a_loss_since_the_base_names_the_factor_of_its_own_reference)
{
    struct improved p;
    make_improved(&p);
    assert_near(p.c.deltas[2].estimate.ratio, 1.1, 0.02);
    assert_near(p.c.deltas[2].reference.common, 1.05, 0.02);
    release_improved(&p);
}

/* The outcome for the improved cell if, measured alternately, the base's build and tonight's take this much.
 */
static enum confirmation measured_again(double base, double now, enum verdict expected)
{
    const struct compare_options o = compare_defaults();
    struct improved p;
    struct suspect_list left;
    make_improved(&p);
    struct run_data a = improved_night(31, base), b = improved_night(32, now);
    const struct run_data *const bases[] = {&a, &a}, *const nows[] = {&b, &b};
    confirm_judge(&p.c, bases, 2, nows, 2, &o);
    enum confirmation found = p.c.deltas[2].confirmation;
    assert_int_equal(p.c.deltas[2].verdict, expected);
    assert_int_equal(p.c.node_cells, 0);
    if (found == CONFIRM_UNDECIDED)
        assert_int_equal(p.c.deltas[2].doubts.undecided, UNDECIDED_OLDER_BASE);
    confirm_undecided(&p.c, &left);
    assert_int_equal(left.count, 0);
    suspect_list_release(&left);
    run_data_release(&a);
    run_data_release(&b);
    release_improved(&p);
    return found;
}

/* The base's build never had the level that was lost: that it is slow as well says nothing. */
TEST(the_build_of_an_old_base_clears_no_loss_since_the_newest_nights)
{
    assert_int_equal(measured_again(1, 0.88, VERDICT_SUSPECTED), CONFIRM_UNDECIDED);
    assert_int_equal(measured_again(0.88, 0.88, VERDICT_SUSPECTED), CONFIRM_UNDECIDED);
    assert_int_equal(measured_again(0.8, 0.88, VERDICT_REGRESSED), CONFIRM_STANDS);
}

/* The last `taken` nights are slower by `factor`, in one cell or in all; the first of them is the base. */
static struct comparison since_accepted(int taken, double factor, bool all, double now)
{
    struct plan_nights p;
    struct comparison c;
    struct compare_options o = compare_defaults();
    const int64_t base_run = NIGHTS - taken + 1;
    make_nights(&p);
    for (int i = 0; i < CELLS; i++)
        for (int n = 0; n < NIGHTS; n++) {
            snprintf(p.series[i].variant, sizeof p.series[i].variant, i < CELLS / 2 ? "v" : "w");
            p.points[i][n].median *= n + taken >= NIGHTS && (all || i == 2) ? factor : 1;
        }
    o.base_runs = &base_run;
    o.n_base_runs = 1;
    struct run_data base = night_of((int)base_run, all ? factor : 1), tonight = night_of(30, all ? now : 1);
    for (size_t i = 0; !all && i < tonight.n_tests; i++)
        if (tonight.tests[i].context == 1002) {
            base.tests[i].value[METRIC_PREFILL_S] *= factor;
            tonight.tests[i].value[METRIC_PREFILL_S] *= now;
        }
    make_cells_again(&base);
    make_cells_again(&tonight);
    compare_runs(&base, &tonight, &p.history, &o, &c);
    run_data_release(&base);
    run_data_release(&tonight);
    return c;
}

/* A user who makes the slower run the baseline has accepted it, also before its level has four nights. */
TEST(a_base_that_is_newer_than_the_level_has_accepted_the_change)
{
    for (int all = 0; all < 2; all++)
        for (int taken = 1; taken <= 6; taken++) {
            struct comparison c = since_accepted(taken, 1.2, all, 1.2);
            assert_int_equal(c.verdicts[VERDICT_UNCHANGED], CELLS);
            assert_false(c.shift.found);
            comparison_release(&c);
            c = since_accepted(taken, 1.2, all, 1.2 * 1.1);
            assert_int_equal(comparison_regressed(&c), all);
            assert_int_equal(c.verdicts[VERDICT_SUSPECTED], !all);
            assert_near(all ? c.shift.ratio : c.deltas[2].estimate.ratio, 1.1, 0.03);
            comparison_release(&c);
        }
}

/* What all cells had gained when the base was set is lost again: the older nights are no excuse. */
TEST(what_all_cells_lost_since_a_newer_base_is_found)
{
    for (int taken = 1; taken <= 3; taken++) {
        AUTO(comparison_release) struct comparison c = since_accepted(taken, 0.8, true, 1);
        assert_true(c.shift.found && c.shift.worse && c.shift.since_base);
        assert_near(c.shift.ratio, 1.25, 0.02);
        assert_true(comparison_regressed(&c));
    }
}

/* A cell, or all of them, lost 6 % on the newest `lost` nights, which somebody accepted; tonight so much of
 * the old level. based: compared with a baseline that is older. */
static struct comparison after_acceptance(int lost, bool all, bool based, double now)
{
    struct plan_nights p;
    struct comparison c;
    struct compare_options o = compare_defaults();
    struct acceptance one = {
        .context = all ? 0 : 1002, .metric = METRIC_PREFILL_S, .measured_at = 1000 * NIGHTS};
    const struct acceptances accepted = {&one, 1};
    snprintf(one.variant, sizeof one.variant, "%s", all ? "" : "v");
    make_nights(&p);
    for (int i = 0; i < CELLS; i++)
        for (int n = 0; n < NIGHTS; n++) {
            snprintf(p.series[i].variant, sizeof p.series[i].variant, i < CELLS / 2 ? "v" : "w");
            p.points[i][n].median *= n + lost >= NIGHTS && (all || i == 2) ? 1.06 : 1;
        }
    o.accepted = &accepted;
    struct run_data base = night_of(3, 1), tonight = night_of(30, all ? now : 1);
    for (size_t i = 0; !all && i < tonight.n_tests; i++)
        if (tonight.tests[i].context == 1002)
            tonight.tests[i].value[METRIC_PREFILL_S] *= now;
    make_cells_again(&tonight);
    compare_runs(based ? &base : NULL, &tonight, &p.history, &o, &c);
    run_data_release(&base);
    run_data_release(&tonight);
    return c;
}

TEST(what_is_expected_moves_to_the_level_of_an_accepted_finding)
{
    for (int based = 0; based < 2; based++)
        for (int all = 0; all < 2; all++)
            for (int lost = 2; lost <= 10; lost++) {
                struct comparison c = after_acceptance(lost, all, based, 1.06);
                assert_int_equal(c.verdicts[VERDICT_UNCHANGED], CELLS);
                assert_false(c.shift.found);
                assert_near(c.deltas[2].estimate.ratio, 1, 0.01);
                if (!all)
                    assert_in_range(c.deltas[2].reference.nights, lost - 1, lost); /* dated a night late */
                comparison_release(&c);
                c = after_acceptance(lost, all, based, 1.06 * 1.06);
                assert_int_equal(comparison_regressed(&c), all);
                assert_int_equal(c.verdicts[VERDICT_SUSPECTED], !all);
                comparison_release(&c);
            }
}

/* Twenty nights of one code, the node `slower` since the ninth, and tonight; the base is the third. */
static struct comparison of_one_code(double slower, double now)
{
    struct plan_nights p;
    struct comparison c;
    struct compare_options o = compare_defaults();
    const int64_t base_run = 3;
    struct run_data base = night_of(3, 1), tonight = night_of(30, now);
    make_nights(&p);
    for (size_t i = 0; i < tonight.n_variants; i++) {
        snprintf(base.variants[i].code_sha256, sizeof base.variants[i].code_sha256, "%064d", 7);
        snprintf(tonight.variants[i].code_sha256, sizeof tonight.variants[i].code_sha256, "%064d", 7);
    }
    for (int i = 0; i < CELLS; i++)
        for (int n = 0; n < NIGHTS; n++) {
            snprintf(p.series[i].variant, sizeof p.series[i].variant, i < CELLS / 2 ? "v" : "w");
            p.points[i][n].code = variant_code(&tonight.variants[0]);
            p.points[i][n].median *= n >= 8 ? slower : 1;
        }
    o.base_runs = &base_run;
    o.n_base_runs = 1;
    compare_runs(&base, &tonight, &p.history, &o, &c);
    run_data_release(&base);
    run_data_release(&tonight);
    return c;
}

/* A night on which a node that has been slow since the base is a little faster is no night on which it is as
 * fast as the base. */
TEST(what_is_slower_than_the_base_is_found_on_a_night_that_gained_on_the_last)
{
    struct comparison c = of_one_code(1.2, 1.2);
    assert_true(c.shift.found && c.shift.worse && c.shift.from_controls);
    assert_near(c.shift.ratio, 1.2, 0.02);
    comparison_release(&c);
    c = of_one_code(1.2, 1.2 * 0.95);
    assert_true(c.shift.found && c.shift.worse);
    assert_near(c.shift.ratio, 1.14, 0.02);
    assert_true(comparison_regressed(&c));
    comparison_release(&c);
    c = of_one_code(1.2, 0.95); /* faster than both: the news is what it gained last night */
    assert_true(c.shift.found && !c.shift.worse && !c.shift.since_base);
    assert_false(comparison_regressed(&c));
    comparison_release(&c);
    c = of_one_code(1.2, 1.2 * 1.05);
    assert_true(c.shift.found && c.shift.worse && !c.shift.since_base);
    comparison_release(&c);
}

GROUP(scratch_make, scratch_remove);
