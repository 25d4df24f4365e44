/* levels: the nights of a plan as a model: their order, what they have in common, levels and devices. */
#include "tests/unit/levels_support.h"

#include "results/judge/compare.h"
#include "results/judge/nights/common_factor.h"
#include "results/judge/nights/nights.h"
#include "results/judge/nights/scale.h"
#include "results/stats/stats.h"

static struct nights model_of(const struct plan_nights *p)
{
    struct nights n;
    nights_model(&p->history, METRIC_PREFILL_S, NULL, &n);
    return n;
}

TEST(nights_are_in_the_order_in_which_they_were_measured)
{
    struct plan_nights p;
    make_nights(&p);
    /* The night that was stored last was measured first. */
    for (int c = 0; c < CELLS; c++)
        p.points[c][NIGHTS - 1].measured_at = 500;
    AUTO(nights_model_release) struct nights n = model_of(&p);
    assert_int_equal(n.count, NIGHTS);
    assert_int_equal(n.nights[0].run_key, NIGHTS);
    assert_int_equal(n.nights[1].run_key, 1);
    assert_int_equal(nights_find_cell(&n, "v", 1000)->points[0]->run_key, NIGHTS);
}

TEST(what_all_cells_have_in_common_is_no_change_of_theirs)
{
    struct plan_nights p;
    make_nights(&p);
    for (int c = 0; c < CELLS; c++)
        p.points[c][7].median *= 1.08;
    AUTO(nights_model_release) struct nights n = model_of(&p);
    assert_true(n.has_factors);
    assert_near(n.nights[7].factor, log(1.08), 0.006);
    assert_near(n.nights[8].factor, 0, 0.006);
    const struct night_cell *c = nights_find_cell(&n, "v", 1003);
    assert_near(c->u[7], log(4), 0.02);
    assert_near(c->y[7], log(4 * 1.08), 0.02);
    assert_true(c->scale.u < 0.012);
}

TEST(a_level_counts_from_its_fourth_night)
{
    for (size_t fast = 3; fast <= 4; fast++) {
        struct plan_nights p;
        make_nights(&p);
        for (size_t i = NIGHTS - fast; i < NIGHTS; i++)
            p.points[2][i].median *= 0.8;
        AUTO(nights_model_release) struct nights n = model_of(&p);
        struct level l = nights_level(nights_find_cell(&n, "v", 1002));
        assert_true(l.known);
        assert_near(exp(l.u), fast == 3 ? 3 : 2.4, 0.03);
        assert_int_equal(l.nights, fast == 3 ? NIGHTS : 4); /* three are still nights of the level before */
    }
}

TEST(another_device_begins_a_level)
{
    struct plan_nights p;
    make_nights(&p);
    for (int c = 0; c < CELLS; c++)
        for (int i = 0; i < NIGHTS; i++)
            p.points[c][i].device = i < 14 ? 1 : 2;
    AUTO(nights_model_release) struct nights n = model_of(&p);
    const struct night_cell *c = nights_find_cell(&n, "v", 1004);
    assert_int_equal(c->levels.count, 1);
    assert_true(c->levels.items[0].forced);
    assert_int_equal(c->levels.items[0].at, 14);
    struct level l = nights_level(c);
    assert_int_equal(l.nights, 6);
    assert_false(nights_on_other_device(c, &l, 2));
    assert_true(nights_on_other_device(c, &l, 3));
    assert_false(nights_on_other_device(c, &l, 0));
    assert_int_equal(nights_device(&n), 2);
}

/* From night 60 on, the cells drift. */
TEST(what_was_found_stays_found_when_later_nights_resemble_each_other)
{
    enum { MANY = 100, STEP = 50, FOUND = 54, DRIFT = 60 };
    struct stats_rng rng;
    struct history_point points[CELLS][MANY];
    struct history_series series[CELLS];
    stats_rng_seed(&rng, 22);
    for (int c = 0; c < CELLS; c++) {
        double x = 0;
        for (int i = 0; i < MANY; i++) {
            double before = i < DRIFT ? 0 : 0.95 * x;
            x = before + 0.01 * stats_rng_normal(&rng);
            points[c][i] = (struct history_point){.run_key = i + 1,
                                                  .measured_at = 1000 * (i + 1),
                                                  .n = 1,
                                                  .median = exp(x + (c == 0 && i >= STEP ? 0.04 : 0))};
        }
        series[c] = (struct history_series){
            .variant = "v", .context = 1000 + c, .metric = METRIC_PREFILL_S, .points = points[c]};
    }
    for (size_t count = FOUND; count <= MANY; count++) {
        struct history h = {.series = series, .count = CELLS, .nights = count};
        for (int c = 0; c < CELLS; c++)
            series[c].count = count;
        struct nights n;
        nights_model(&h, METRIC_PREFILL_S, NULL, &n);
        const struct standing *s = &nights_find_cell(&n, "v", 1000)->standing[1];
        bool open = s->open || s->n_returned > 0;
        size_t since = s->open ? s->since : STEP;
        nights_model_release(&n);
        assert_true(open);
        assert_int_equal(since, STEP);
    }
}

/* The first nights resemble each other, the later ones less and less. */
TEST(no_night_makes_a_finding_of_nights_that_were_none)
{
    enum { MANY = 45 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct stats_rng rng;
        struct history_point points[CELLS][MANY];
        struct history_series series[CELLS];
        bool open[CELLS] = {false};
        stats_rng_seed(&rng, seed);
        for (int c = 0; c < CELLS; c++) {
            double x = 0;
            for (int i = 0; i < MANY; i++) {
                x = (i < 25 ? 0.8 : 0.2) * x + 0.02 * stats_rng_normal(&rng);
                points[c][i] = (struct history_point){
                    .run_key = i + 1, .measured_at = 1000 * (i + 1), .n = 1, .median = exp(x)};
            }
            series[c] = (struct history_series){
                .variant = "v", .context = 1000 + c, .metric = METRIC_PREFILL_S, .points = points[c]};
        }
        for (size_t count = 9; count <= MANY; count++) {
            struct history h = {.series = series, .count = CELLS, .nights = count};
            for (int c = 0; c < CELLS; c++)
                series[c].count = count;
            AUTO(nights_model_release) struct nights n;
            nights_model(&h, METRIC_PREFILL_S, NULL, &n);
            for (int c = 0; c < CELLS; c++) {
                const struct standing *s = &n.cells[c].standing[1];
                assert_true(!s->open || open[c] || s->opened_at == count - 1);
                open[c] = s->open;
            }
        }
    }
}

/* An open finding says on which side of half of its size tonight is, not on which side of the level. */
TEST(a_finding_tells_whether_tonight_is_one_of_the_nights_that_close_it)
{
    const struct compare_options o = compare_defaults();
    const struct {
        double tonight;
        enum reason_code reason;
    } cases[] = {{1, REASON_BACK},    {1.005, REASON_BACK},   {0.8, REASON_BACK},
                 {1.07, REASON_BACK}, {1.13, REASON_CHANGED}, {1.2, REASON_CHANGED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan_nights p;
        AUTO(comparison_release) struct comparison c = {0};
        make_nights(&p);
        for (int n = NIGHTS - 3; n < NIGHTS; n++)
            p.points[0][n].median *= 1.2;
        p.history.count = 1;
        struct draft d;
        draft_night(&d, 30);
        for (int r = 1; r <= 3; r++)
            draft_shot(&d, "v", 1000, r, cases[i].tonight);
        AUTO(run_data_release) struct run_data now = run_of_draft(&d);
        compare_runs(NULL, &now, &p.history, &o, &c);
        assert_int_equal(c.deltas[0].verdict, VERDICT_REGRESSED);
        assert_int_equal(c.deltas[0].reason, cases[i].reason);
    }
}

TEST(a_base_is_the_nights_around_it)
{
    struct plan_nights p;
    make_nights(&p);
    AUTO(nights_model_release) struct nights n = model_of(&p);
    const struct night_cell *c = nights_find_cell(&n, "v", 1000);
    struct level l = nights_base_level(c, (const int64_t[]){10}, 1);
    assert_int_equal(l.nights, NIGHTS_BASE);
    for (size_t i = 0; i < l.nights; i++)
        assert_in_range(c->points[l.members[i]]->run_key, 8, 12);
    l = nights_base_level(c, (const int64_t[]){3, 17, 99}, 3);
    assert_int_equal(l.nights, 2);
    assert_false(nights_base_level(c, (const int64_t[]){99}, 1).known);
}

/* A baseline that many nights of slower code follow must not become their level. */
TEST(nights_of_other_code_do_not_speak_for_a_base)
{
    struct plan_nights p;
    make_nights(&p);
    for (int i = 0; i < NIGHTS; i++)
        p.points[0][i].code = p.points[0][i].run_key <= 10 ? 1 : 2;
    AUTO(nights_model_release) struct nights n = model_of(&p);
    const struct night_cell *c = nights_find_cell(&n, "v", 1000);
    struct level l = nights_base_level(c, (const int64_t[]){10}, 1);
    assert_in_range(l.nights, 3, NIGHTS_BASE);
    for (size_t i = 0; i < l.nights; i++)
        assert_in_range(c->points[l.members[i]]->run_key, 1, 10);
}

TEST(a_base_far_from_its_neighbours_speaks_for_itself)
{
    struct plan_nights p;
    make_nights(&p);
    AUTO(nights_model_release) struct nights n = model_of(&p);
    struct night_cell *c = &n.cells[0];
    size_t at = 9;
    c->levels.odd[at] = true;
    struct level l = nights_base_level(c, (const int64_t[]){c->points[at]->run_key}, 1);
    assert_int_equal(l.nights, 1);
    assert_int_equal(l.members[0], at);
}

TEST(a_common_factor_needs_a_majority_or_controls)
{
    struct common_cell cells[10] = {0};
    for (size_t i = 0; i < 10; i++)
        cells[i] = (struct common_cell){.x = i < 5 ? 0.08 : 0, .variant = i / 2};
    assert_false(common_factor_of(cells, 10, 0.005, 0).known);
    assert_false(common_factor_of(cells, 5, 0.005, 0).known); /* five cells are too few */
    cells[5].x = 0.08;
    struct common_factor f = common_factor_of(cells, 10, 0.005, 0);
    assert_true(f.known && f.separable && !f.from_controls);
    assert_near(f.log, 0.08, 1e-12);
    assert_int_equal(f.cells, 10);
    assert_int_equal(f.agree, 6);
    /* Six controls that did not move: the others did. */
    for (size_t i = 0; i < 10; i++)
        cells[i] = (struct common_cell){.x = i < 4 ? 0.08 : 0.001, .control = i >= 4, .variant = i / 2};
    f = common_factor_of(cells, 10, 0.005, 0);
    assert_true(f.known && f.from_controls);
    assert_near(f.log, 0.001, 1e-12);
    /* Too few controls to read it from, and they contradict the majority. */
    for (size_t i = 0; i < 10; i++)
        cells[i] = (struct common_cell){.x = i < 7 ? 0.08 : 0, .control = i >= 7, .variant = i / 2};
    assert_false(common_factor_of(cells, 10, 0.005, 0).known);
    /* One variant alone: its code may have changed. */
    for (size_t i = 0; i < 10; i++)
        cells[i] = (struct common_cell){.x = 0.08};
    f = common_factor_of(cells, 10, 0.005, 0);
    assert_true(f.known && !f.separable);
}

/* Where values vary much, all cells lie near the middle between a variant that changed and one that did not.
 */
TEST(the_middle_between_two_variants_is_not_shared)
{
    struct common_cell cells[6];
    for (size_t i = 0; i < 6; i++)
        cells[i] = (struct common_cell){.x = (i < 3 ? 0.26 : 0) + 0.01 * (double)(i % 3), .variant = i / 3};
    struct common_factor f = common_factor_of(cells, 6, 0.08, 0);
    assert_true(f.known && f.separable && !f.shared);
    for (size_t i = 0; i < 6; i++)
        cells[i].x = 0.26 + 0.01 * (double)(i % 3);
    assert_true(common_factor_of(cells, 6, 0.08, 0).shared);
    assert_false(common_factor_of(cells, 6, 0.08, 0.27).shared); /* nothing but the usual */
    for (size_t i = 0; i < 6; i++)
        cells[i].control = true;
    assert_true(common_factor_of(cells, 6, 0.08, 0.27).shared);
}

TEST(scales_are_robust_and_know_steps)
{
    struct stats_rng rng;
    double y[200], x[40];
    stats_rng_seed(&rng, 9);
    for (size_t i = 0; i < 200; i++)
        y[i] = (i < 100 ? 0 : 0.2) + 0.01 * stats_rng_normal(&rng);
    assert_near(scale_of_steps(y, NULL, 200), 0.01, 0.0015); /* the step of 20 % does not count */
    assert_near(scale_of_steps(y, NULL, 2), 0, 0);
    for (size_t i = 0; i < 40; i++)
        x[i] = 1 + 0.025 * (double)(i % 4);
    assert_near(scale_quantum(x, 40), 0.025 / 1.075, 0.001);
    for (size_t i = 0; i < 40; i++)
        x[i] = 1 + 0.01 * stats_rng_normal(&rng);
    assert_near(scale_quantum(x, 40), 0, 0); /* values that never repeat are not rounded */
    const double within[] = {0.007, 0.007, 0.3, NAN, 0};
    const int n[] = {3, 3, 3, 1, 3};
    assert_near(scale_within(within, n, 5), 0.0084, 0.0005);
    assert_near(stats_t_p(stats_t_limit(0.001, 7), 7), 0.001, 1e-6);
    assert_near(stats_t_limit(0.05, 1), 12.706204736432, 1e-9);
    assert_near(stats_t_limit(0.001, 1), 636.61924876872, 1e-6);
    assert_near(stats_t_limit(0.9, 4), 0.133830366977, 1e-9);
    const double df[] = {0.5, 2, 9, 59, 1000};
    for (size_t i = 0; i < 5; i++)
        for (int power = 1; power < 40; power++) {
            double p = pow(0.5, power);
            assert_near(stats_t_p(stats_t_limit(p, df[i]), df[i]) / p, 1, 1e-6);
        }
    assert_near(stats_normal_quantile(0.975), 1.959963984540, 1e-10);
    assert_near(stats_normal_quantile(0.5), 0, 0);
    assert_near(stats_normal_quantile(1e-12), -7.034483825301, 1e-9);
    assert_near(stats_normal_quantile(1 - 1e-6), 4.753424308823, 1e-6);
}

static enum shift_cause cause_of(const struct plan_nights *p, double base_again, double now_again)
{
    struct comparison c;
    const struct compare_options o = compare_defaults();
    struct run_data now = night_of(30, 1.08), a = night_of(31, base_again), b = night_of(32, now_again);
    compare_runs(NULL, &now, &p->history, &o, &c);
    assert_true(c.shift.found && c.shift.worse && !c.shift.from_controls);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 0);
    assert_true(comparison_regressed(&c));
    enum shift_cause cause = cause_measured_again(&c, 4, &a, &b, &o);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], cause == SHIFT_CODE ? CELLS : 0);
    comparison_release(&c);
    run_data_release(&now);
    run_data_release(&a);
    run_data_release(&b);
    return cause;
}

TEST(measuring_again_tells_whose_a_common_factor_is)
{
    struct plan_nights p;
    make_nights(&p);
    for (int c = CELLS / 2; c < CELLS; c++)
        snprintf(p.series[c].variant, sizeof p.series[c].variant, "w");
    assert_int_equal(cause_of(&p, 1.08, 1.08), SHIFT_NODE);
    assert_int_equal(cause_of(&p, 1.00, 1.08), SHIFT_CODE);
}

/* The last cell stayed where it was; all others are 8 % slower tonight, and 5 % when measured alternately. */
TEST(guilty_code_has_its_factor_back_in_every_cell)
{
    struct plan_nights p;
    struct comparison c;
    const struct compare_options o = compare_defaults();
    make_nights(&p);
    for (int i = CELLS / 2; i < CELLS; i++)
        snprintf(p.series[i].variant, sizeof p.series[i].variant, "w");
    for (int n = 0; n < NIGHTS; n++)
        p.points[CELLS - 1][n].median *= 1.08;
    struct run_data now = night_of(30, 1.08), a = night_of(31, 1.00), b = night_of(32, 1.05);
    compare_runs(NULL, &now, &p.history, &o, &c);
    assert_int_equal(cause_measured_again(&c, 4, &a, &b, &o), SHIFT_CODE);
    assert_near(shift_size(&c.shift), 1.05, 0.001);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], CELLS - 1);
    assert_int_equal(c.verdicts[VERDICT_UNCHANGED], 1);
    int again = 0;
    for (int i = 0; i < CELLS; i++) {
        const struct delta *d = &c.deltas[i];
        again += d->confirmation == CONFIRM_STANDS;
        bool stayed = d->context == 1000 + CELLS - 1;
        assert_near(d->estimate.ratio, stayed ? 1 : 1.08, 0.01);
        assert_near(delta_size(d), stayed ? d->estimate.ratio : 1.05, 0.01);
        assert_int_equal(d->reason, stayed ? REASON_BELOW : REASON_SHARED);
    }
    assert_int_equal(again, 4);
    comparison_release(&c);
    run_data_release(&now);
    run_data_release(&a);
    run_data_release(&b);
}

/* Two runs of a young plan, which has no nights yet: tonight all cells are 8 % slower. */
static enum shift_cause cause_of_pair(double base_again, double now_again)
{
    struct comparison c;
    const struct compare_options o = compare_defaults();
    struct run_data base = night_of(1, 1), now = night_of(2, 1.08);
    struct run_data a = night_of(3, base_again), b = night_of(4, now_again);
    compare_runs(&base, &now, NULL, &o, &c);
    assert_true(c.shift.found && c.shift.worse && c.shift.since_base);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 0);
    enum shift_cause cause = cause_measured_again(&c, 4, &a, &b, &o);
    comparison_release(&c);
    run_data_release(&base);
    run_data_release(&now);
    run_data_release(&a);
    run_data_release(&b);
    return cause;
}

TEST(measuring_again_tells_it_of_two_runs_too)
{
    assert_int_equal(cause_of_pair(1.08, 1.08), SHIFT_NODE);
    assert_int_equal(cause_of_pair(1.00, 1.08), SHIFT_CODE);
}

/* Three variants, of which the third has its own speed tonight. */
static struct run_data night_of_three(int number, double two, double third)
{
    struct draft d;
    draft_night(&d, number);
    for (int v = 0; v < 3; v++)
        for (int c = 0; c < (v < 2 ? 3 : 2); c++)
            for (int r = 1; r <= 3; r++) {
                char name[] = {(char)('a' + v), '\0'};
                draft_shot(&d, name, 1000 + c, r, (3 * v + c + 1) * (v < 2 ? two : third) * (1 + 0.001 * r));
            }
    return run_of_draft(&d);
}

static void make_three(struct plan_nights *p)
{
    make_nights(p);
    for (int i = 0; i < CELLS; i++) {
        snprintf(p->series[i].variant, sizeof p->series[i].variant, "%c", 'a' + i / 3);
        p->series[i].context = 1000 + i % 3;
    }
}

static void judge_three(bool nights, double two, double third, enum verdict expected, bool fails)
{
    struct plan_nights p;
    AUTO(comparison_release) struct comparison c = {0};
    const struct compare_options o = compare_defaults();
    make_three(&p);
    struct run_data base = night_of_three(1, 1, 1), now = night_of_three(30, two, third);
    compare_runs(nights ? NULL : &base, &now, nights ? &p.history : NULL, &o, &c);
    assert_true(c.shift.found && !c.shift.from_controls);
    assert_int_equal(c.verdicts[VERDICT_UNCHANGED], 6);
    assert_int_equal(c.verdicts[expected], 2);
    assert_int_equal(comparison_regressed(&c), fails);
    run_data_release(&base);
    run_data_release(&now);
}

/* What two variants of three have in common may be the code that only they share. */
TEST(a_cell_that_stayed_where_it_was_has_not_changed_by_what_others_share)
{
    for (int nights = 0; nights < 2; nights++) {
        enum verdict slower = nights ? VERDICT_SUSPECTED : VERDICT_REGRESSED;
        judge_three(nights, 0.9, 1, VERDICT_NOISY, false);
        judge_three(nights, 1.1, 1, VERDICT_NOISY, true);
        judge_three(nights, 0.9, 1.1, slower, !nights);
        judge_three(nights, 1.1, 0.9, VERDICT_IMPROVED, true);
        judge_three(nights, 1.1, 1.25, slower, true);
    }
}

/* Nights that vary by a tenth of a per cent, and tonight two variants are 1.9 % faster: no finding, but none
 * of the third either. */
TEST(nor_by_what_is_too_small_for_a_finding)
{
    struct plan_nights p;
    AUTO(comparison_release) struct comparison c = {0};
    const struct compare_options o = compare_defaults();
    make_three(&p);
    for (int i = 0; i < CELLS; i++)
        for (int n = 0; n < NIGHTS; n++)
            p.points[i][n].median = (i + 1) * pow(p.points[i][n].median / (i + 1), 0.1);
    AUTO(run_data_release) struct run_data now = night_of_three(30, 0.981, 1.002);
    compare_runs(NULL, &now, &p.history, &o, &c);
    assert_true(c.shift.known && c.shift.unusual && !c.shift.found);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 0);
    assert_int_equal(c.verdicts[VERDICT_NOISY], 2);
}

/* The base is older than ten nights on which two variants are 10 % faster. */
TEST(nor_by_what_others_have_shared_since_an_old_base)
{
    struct plan_nights p;
    AUTO(comparison_release) struct comparison c = {0};
    struct compare_options o = compare_defaults();
    const int64_t base_run = 3;
    make_three(&p);
    for (int i = 0; i < 6; i++)
        for (int n = 10; n < NIGHTS; n++)
            p.points[i][n].median *= 0.9;
    o.base_runs = &base_run;
    o.n_base_runs = 1;
    struct run_data base = night_of_three(3, 1, 1), now = night_of_three(30, 0.9, 1);
    compare_runs(&base, &now, &p.history, &o, &c);
    assert_false(c.shift.found);
    assert_int_equal(c.verdicts[VERDICT_IMPROVED], 6);
    assert_int_equal(c.verdicts[VERDICT_NOISY], 2);
    run_data_release(&base);
    run_data_release(&now);
}

/* A metric of the plan's own may be below 0, of which the model of nights knows nothing. */
TEST(values_below_zero_were_measured_and_have_no_ratio)
{
    struct plan_nights p;
    AUTO(comparison_release) struct comparison c = {0};
    const struct compare_options o = compare_defaults();
    make_nights(&p);
    for (int i = 0; i < CELLS; i++)
        for (int n = 0; n < NIGHTS; n++) {
            snprintf(p.series[i].variant, sizeof p.series[i].variant, i < CELLS / 2 ? "v" : "w");
            p.points[i][n].median *= -1;
        }
    AUTO(run_data_release) struct run_data now = night_of(30, 1.1);
    for (size_t i = 0; i < now.n_tests; i++)
        now.tests[i].value[METRIC_PREFILL_S] *= -1;
    free(now.cells);
    now.n_cells = 0;
    run_data_make_cells(&now);
    compare_runs(NULL, &now, &p.history, &o, &c);
    assert_int_equal(c.verdicts[VERDICT_NOISY], CELLS);
    assert_int_equal(c.deltas[0].reason, REASON_NO_RATIO);
}

/* Two variants on a machine so busy that repetitions vary by half: `mine` and `other` times as slow as in the
 * base. */
static struct run_data busy_night(int number, double mine, double other, int repetitions)
{
    static const double disturbed[] = {1, 1.1, 1.3, 2.1, 1.2};
    struct draft d;
    draft_night(&d, number);
    for (int c = 0; c < 6; c++)
        for (int r = 1; r <= repetitions; r++)
            draft_shot(&d, c < 3 ? "v" : "w", 1000 + c, r,
                       (c + 1) * (c < 3 ? mine : other) * disturbed[r - 1]);
    return run_of_draft(&d);
}

/* What they have in common is the middle between the two: the one that lost less than that has gained
 * nothing. */
TEST(a_factor_that_is_hardly_known_makes_no_cell_better)
{
    const struct compare_options o = compare_defaults();
    for (int repetitions = 4; repetitions <= 5; repetitions++) {
        AUTO(comparison_release) struct comparison c = {0};
        struct run_data base = busy_night(1, 1, 1, repetitions), now = busy_night(2, 11, 2.3, repetitions);
        compare_runs(&base, &now, NULL, &o, &c);
        assert_true(c.shift.found && c.shift.worse);
        assert_int_equal(c.verdicts[VERDICT_IMPROVED], 0);
        assert_int_equal(c.verdicts[VERDICT_NOISY], 6);
        run_data_release(&base);
        run_data_release(&now);
    }
}

GROUP(scratch_make, scratch_remove);
