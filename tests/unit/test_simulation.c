/* The judge on simulated nights (tests/simulation), with fixed seeds: how often it raises a false alarm, and
 * what it finds of what was planted. The rates that are asserted are those to reach, whatever the judge
 * reaches today. scripts/bench/judging prints the same table for other seeds.
 * unsanitized: thousands of nights of arithmetic; unit/test_nights and its neighbours run the same code
 */
#include "tests/unit/simulation_support.h"

#include "results/judge/confirm.h"

#include <math.h>

enum { HISTORY = 20 };

/* Judges the newest night against those before it, and releases them. */
static void judge(struct simulated *n, size_t planted, struct score *s)
{
    bool slower[SIMULATED_CELLS];
    simulated_measure(n);
    AUTO(comparison_release) struct comparison c = trial_compare(n, AGAINST_NIGHTS, 0);
    trial_judge(&c, slower);
    score_add(s, slower, planted);
    s->findings += comparison_regressed(&c);
    simulated_release(n);
}

/* False alarms ------------------------------------------------------------------------------------------- */

enum { STILL_NIGHTS = 200 };

struct still {
    const char *model;
    double limit;
    bool findings; /* what the node does is noise too: it is no finding */
};

static struct score still_nights(const struct noise_model *m, enum against_what a, uint64_t seed)
{
    struct score s = {0};
    for (uint64_t i = 0; i < STILL_NIGHTS; i++) {
        AUTO(simulated_release) struct simulated n = {0};
        bool slower[SIMULATED_CELLS];
        make_nights(&n, m, seed + i, NO_CELL, 1);
        AUTO(comparison_release) struct comparison c = trial_compare(&n, a, n.count - 2);
        trial_judge(&c, slower);
        score_add(&s, slower, NO_CELL);
        s.findings += comparison_regressed(&c);
    }
    return s;
}

static void still_nights_raise_no_alarm(void **state)
{
    const struct still *t = *state;
    const struct noise_model *m = model_of(t->model);
    const enum against_what against[] = {AGAINST_NIGHTS, AGAINST_BOTH};
    struct score s[COUNT(against)];
    for (size_t i = 0; i < COUNT(against); i++) {
        s[i] = still_nights(m, against[i], 1000);
        print_message("%s, %s: %d of %d nights with a regressed cell, %d that fail\n", t->model,
                      against_name(against[i]), s[i].alarms, s[i].still, s[i].findings);
    }
    for (size_t i = 0; i < COUNT(against); i++) {
        assert_most(t->model, s[i].alarms, s[i].still, t->limit);
        if (t->findings)
            assert_most(t->model, s[i].findings, s[i].still, t->limit);
    }
}

static void a_night_of_one_repetition_after_nights_of_ten_raises_no_alarm(void **state)
{
    (void)state;
    const struct noise_model m = {.name = "one of ten", .node = 0.005, .within = 0.02};
    struct score s = {0};
    for (uint64_t i = 0; i < STILL_NIGHTS; i++) {
        struct simulated n;
        simulated_init(&n, &m, HISTORY + 1, 2000 + i);
        for (size_t night = 0; night < HISTORY; night++)
            n.repetitions[night] = 10;
        n.repetitions[HISTORY] = 1;
        judge(&n, NO_CELL, &s);
    }
    assert_most("nights with a regressed cell", s.alarms, s.still, 0.02);
}

/* One slower cell ---------------------------------------------------------------------------------------- */

enum { PLANTED_NIGHTS = 120 };

struct slower {
    double by;
    double found;
};

static void one_slower_cell_is_found_on_its_first_night(void **state)
{
    const struct slower *t = *state;
    const struct noise_model *m = model_of("common-1.5");
    struct score s = {0};
    for (uint64_t i = 0; i < PLANTED_NIGHTS; i++) {
        struct simulated n;
        simulated_init(&n, m, HISTORY + 1, 3000 + i);
        simulated_plant(&n, i % SIMULATED_CELLS, 1, HISTORY, HISTORY + 1, 1 + t->by);
        judge(&n, i % SIMULATED_CELLS, &s);
    }
    assert_least("slower cells found", s.found, s.planted, t->found);
    assert_least("of the cells called slower, that are", s.found, s.flagged, 0.95);
}

static void a_slower_variant_is_found(void **state)
{
    (void)state;
    const struct noise_model *m = model_of("common-1.5");
    int found = 0, others = 0;
    for (uint64_t i = 0; i < PLANTED_NIGHTS; i++) {
        AUTO(simulated_release) struct simulated n = {0};
        bool slower[SIMULATED_CELLS];
        simulated_init(&n, m, HISTORY + 1, 3500 + i);
        simulated_plant(&n, SIMULATED_CONTEXTS, SIMULATED_CONTEXTS, HISTORY, HISTORY + 1, 1.05);
        simulated_measure(&n);
        AUTO(comparison_release) struct comparison c = trial_compare(&n, AGAINST_NIGHTS, 0);
        trial_judge(&c, slower);
        for (size_t cell = 0; cell < SIMULATED_CELLS; cell++)
            *(cell / SIMULATED_CONTEXTS == 1 ? &found : &others) += slower[cell];
    }
    assert_least("cells of the slower variant found", found, PLANTED_NIGHTS * SIMULATED_CONTEXTS, 0.95);
    assert_most("cells of other variants", others, PLANTED_NIGHTS * (SIMULATED_CELLS - SIMULATED_CONTEXTS),
                0.001);
}

/* Noise of each cell and night leaves no common factor to remove: only larger changes can be found. */
static void slow_downs_of_cells_that_vary_by_themselves_are_found(void **state)
{
    (void)state;
    const struct noise_model quiet = {.name = "cell-0.5", .cell = 0.005, .within = 0.007};
    const struct noise_model *const models[] = {&quiet, model_of("cell-1.5"), model_of("cell-1.5")};
    const double by[] = {0.05, 0.05, 0.10}, least[] = {0.98, 0.25, 0.95};
    for (size_t k = 0; k < COUNT(models); k++) {
        struct score s = {0};
        for (uint64_t i = 0; i < PLANTED_NIGHTS; i++) {
            struct simulated n;
            simulated_init(&n, models[k], HISTORY + 1, 4000 + i);
            simulated_plant(&n, i % SIMULATED_CELLS, 1, HISTORY, HISTORY + 1, 1 + by[k]);
            judge(&n, i % SIMULATED_CELLS, &s);
        }
        assert_least(models[k]->name, s.found, s.planted, least[k]);
    }
}

/* An accepted improvement -------------------------------------------------------------------------------- */

struct improvement {
    size_t cells;  /* that became 20 % faster */
    size_t nights; /* at the new level before the slower one */
};

static void a_slow_down_after_an_accepted_improvement_is_found(void **state)
{
    const struct improvement *t = *state;
    const struct noise_model *m = model_of("common-1.5");
    const size_t before = 25;
    struct score s = {0};
    for (uint64_t i = 0; i < PLANTED_NIGHTS; i++) {
        struct simulated n;
        size_t cell = i % t->cells;
        simulated_init(&n, m, before + t->nights + 1, 5000 + i);
        simulated_plant(&n, 0, t->cells, before, n.count, 0.8);
        simulated_plant(&n, cell, 1, n.count - 1, n.count, 1.1);
        judge(&n, cell, &s);
    }
    assert_least("slower cells found", s.found, s.planted, 0.95);
}

/* The node ----------------------------------------------------------------------------------------------- */

enum { NODE_NIGHTS = 100 };

enum codes { CODES_UNKNOWN, CODES_SAME, CODES_ALL_NEW };

struct slow_node {
    const char *model;
    enum codes codes;
    double share; /* of the nights that have to have the finding */
};

static void a_slow_node_is_one_finding(void **state)
{
    const struct slow_node *t = *state;
    int one = 0, controls = 0, fails = 0;
    for (uint64_t i = 0; i < NODE_NIGHTS; i++) {
        AUTO(simulated_release) struct simulated n = {0};
        simulated_init(&n, model_of(t->model), HISTORY + 1, 6000 + i);
        if (t->codes != CODES_UNKNOWN)
            simulated_identify(&n);
        for (size_t v = 0; t->codes == CODES_ALL_NEW && v < SIMULATED_VARIANTS; v++)
            simulated_change_code(&n, v, HISTORY);
        simulated_plant(&n, 0, SIMULATED_CELLS, HISTORY, HISTORY + 1, 1.08);
        simulated_measure(&n);
        AUTO(comparison_release) struct comparison c = trial_compare(&n, AGAINST_NIGHTS, 0);
        one += c.shift.found && c.shift.worse && count_verdict(&c, VERDICT_REGRESSED) == 0;
        controls += c.shift.from_controls;
        fails += comparison_regressed(&c);
    }
    print_message("%d nights fail, %d read from controls\n", fails, controls);
    assert_least("nights with one finding", one, NODE_NIGHTS, t->share);
    assert_int_equal(controls, t->codes == CODES_SAME ? NODE_NIGHTS : 0);
    assert_true(fails >= one);
}

static void a_change_of_most_code_is_not_taken_for_the_node(void **state)
{
    (void)state;
    const size_t changed = SIMULATED_CELLS - SIMULATED_CONTEXTS;
    int found = 0, shifts = 0;
    for (uint64_t i = 0; i < NODE_NIGHTS; i++) {
        AUTO(simulated_release) struct simulated n = {0};
        bool slower[SIMULATED_CELLS];
        simulated_init(&n, model_of("common-1.5"), HISTORY + 1, 6500 + i);
        simulated_identify(&n);
        for (size_t v = 0; v + 1 < SIMULATED_VARIANTS; v++)
            simulated_change_code(&n, v, HISTORY);
        simulated_plant(&n, 0, changed, HISTORY, HISTORY + 1, 1.08);
        simulated_measure(&n);
        AUTO(comparison_release) struct comparison c = trial_compare(&n, AGAINST_NIGHTS, 0);
        trial_judge(&c, slower);
        for (size_t cell = 0; cell < changed; cell++)
            found += slower[cell];
        shifts += c.shift.found;
    }
    assert_least("cells of the new code that are called slower", found, NODE_NIGHTS * (int)changed, 0.95);
    assert_most("nights that are put down to the node", shifts, NODE_NIGHTS, 0.02);
}

static void a_swapped_gpu_is_no_regression(void **state)
{
    (void)state;
    int alarms = 0, named = 0;
    for (uint64_t i = 0; i < NODE_NIGHTS; i++) {
        AUTO(simulated_release) struct simulated n = {0};
        simulated_init(&n, model_of("common-0.5"), HISTORY + 1, 7000 + i);
        simulated_swap_gpu(&n, HISTORY);
        simulated_plant(&n, 0, SIMULATED_CELLS, HISTORY, HISTORY + 1, 1.04);
        simulated_measure(&n);
        AUTO(comparison_release) struct comparison c = trial_compare(&n, AGAINST_NIGHTS, 0);
        alarms += count_verdict(&c, VERDICT_REGRESSED) > 0;
        named += c.shift.device_changed;
    }
    assert_least("nights that name the new GPU", named, NODE_NIGHTS, 1);
    assert_most("nights with a regressed cell", alarms, NODE_NIGHTS, 0.02);
}

/* A stored baseline and drift -----------------------------------------------------------------------------
 */

enum { DRIFTS = 100, BASELINE = 10 };

/* All cells drift by 0.3 % a night after the baseline. Whether the night `after` it fails. */
static bool fails_after(const struct noise_model *m, size_t after, uint64_t seed)
{
    struct simulated n;
    simulated_init(&n, m, BASELINE + after + 1, seed);
    for (size_t i = 1; i <= after; i++)
        simulated_plant(&n, 0, SIMULATED_CELLS, BASELINE + i, BASELINE + i + 1, pow(1.003, (double)i));
    simulated_measure(&n);
    struct comparison c = trial_compare(&n, AGAINST_BOTH, BASELINE);
    bool fails = comparison_regressed(&c);
    comparison_release(&c);
    simulated_release(&n);
    return fails;
}

static void drift_from_a_stored_baseline_is_found_by_7_5_percent(void **state)
{
    const struct noise_model *m = model_of(*state);
    const size_t at_7_5 = 24; /* 1.003 ^ 24 = 1.0745 */
    int early = 0, found = 0;
    for (uint64_t i = 0; i < DRIFTS; i++) {
        bool by_then = false;
        for (size_t after = at_7_5 - 6; after <= at_7_5 && !by_then; after++)
            by_then = fails_after(m, after, 8000 + i);
        found += by_then;
        early += fails_after(m, 3, 8000 + i);
    }
    assert_least("drifts found by +7.5 %", found, DRIFTS, 0.95);
    assert_most("nights that fail at +0.9 %", early, DRIFTS, 0.05);
}

/* Confirming --------------------------------------------------------------------------------------------- */

static void confirm(struct simulated *n, struct comparison *c)
{
    struct session s;
    const struct compare_options o = compare_defaults();
    session_init(&s, n);
    size_t last = n->count - 1;
    struct run_data a1 = session_run(&s, n, last - 1), b1 = session_run(&s, n, last),
                    b2 = session_run(&s, n, last), a2 = session_run(&s, n, last - 1);
    const struct run_data *const base[] = {&a1, &a2}, *const now[] = {&b1, &b2};
    confirm_judge(c, base, 2, now, 2, &o);
    run_data_release(&a1);
    run_data_release(&b1);
    run_data_release(&b2);
    run_data_release(&a2);
}

struct confirmed {
    int suspects, refuted, regressed;
};

/* by: how much slower the cells of one variant are. */
static struct confirmed confirm_nights(const struct noise_model *m, int count, double by, uint64_t seed)
{
    struct confirmed out = {0};
    for (int i = 0; i < count; i++) {
        AUTO(simulated_release) struct simulated n = {0};
        simulated_init(&n, m, HISTORY + 1, seed + (uint64_t)i);
        simulated_plant(&n, SIMULATED_CONTEXTS, SIMULATED_CONTEXTS, HISTORY, HISTORY + 1, 1 + by);
        simulated_measure(&n);
        AUTO(comparison_release) struct comparison c = trial_compare(&n, AGAINST_NIGHTS, 0);
        out.suspects += count_verdict(&c, VERDICT_REGRESSED) + count_verdict(&c, VERDICT_SUSPECTED);
        confirm(&n, &c);
        for (size_t k = 0; k < c.count; k++)
            out.refuted += c.deltas[k].confirmation == CONFIRM_REFUTED;
        out.regressed += count_verdict(&c, VERDICT_REGRESSED);
    }
    return out;
}

static void confirming_refutes_no_real_regression_under_heavy_tails(void **state)
{
    (void)state;
    const double by[] = {0.05, 0.065, 0.08};
    for (size_t i = 0; i < COUNT(by); i++) {
        struct confirmed r = confirm_nights(model_of("heavy-tail"), 50, by[i], 9000);
        assert_most("real regressions refuted", r.refuted, r.suspects, 0.02);
    }
}

static void confirming_keeps_real_regressions_on_a_quiet_node(void **state)
{
    (void)state;
    struct confirmed r = confirm_nights(model_of("common-0.5"), 50, 0.05, 9500);
    assert_least("regressions confirmed", r.regressed, r.suspects, 0.98);
}

static void confirming_leaves_no_false_alarm(void **state)
{
    (void)state;
    struct confirmed r = confirm_nights(model_of("cell-1.5"), STILL_NIGHTS, 0, 9700);
    print_message("%d suspects in %d nights, %d remain\n", r.suspects, STILL_NIGHTS, r.regressed);
    assert_int_equal(r.regressed, 0);
}

#define STILL(title, model, limit, findings)                                                                 \
    ROW(title, still_nights_raise_no_alarm, struct still, {model, limit, findings})

int main(void)
{
    const struct CMUnitTest tests[] = {
        STILL("a_common_factor_of_0_5_percent_raises_no_alarm", "common-0.5", 0.02, true),
        STILL("a_common_factor_of_1_5_percent_raises_no_alarm", "common-1.5", 0.02, true),
        STILL("a_common_factor_of_3_percent_raises_no_alarm", "common-3", 0.02, true),
        STILL("cells_that_vary_by_1_5_percent_raise_no_alarm", "cell-1.5", 0.02, true),
        STILL("clock_states_that_differ_by_night_regress_no_cell", "clock-by-night", 0.02, false),
        STILL("a_node_with_a_memory_regresses_no_cell", "ar1-node", 0.02, false),
        STILL("cells_with_a_memory_raise_few_alarms", "ar1-cell", 0.07, true),
        STILL("heavy_tails_raise_no_alarm", "heavy-tail", 0.02, true),
        STILL("a_ramp_of_the_node_regresses_no_cell", "ramp", 0.02, false),
        STILL("spikes_of_earlier_nights_raise_no_alarm", "spikes", 0.02, true),
        STILL("loud_mixed_noise_regresses_few_cells", "mix-loud", 0.04, false),
        STILL("mixed_noise_with_drift_regresses_few_cells", "mix-drift", 0.04, false),
        STILL("values_in_steps_of_1_percent_raise_no_alarm", "steps-1", 0.03, true),
        STILL("values_in_steps_of_2_5_percent_raise_no_alarm", "steps-2.5", 0.04, true),
        STILL("short_kernels_on_a_coarse_timer_raise_no_alarm", "ticks", 0.03, true),
        STILL("mixed_noise_in_steps_raises_no_alarm", "mix-steps", 0.03, false),
        cmocka_unit_test(a_night_of_one_repetition_after_nights_of_ten_raises_no_alarm),
        ROW("one_cell_3_percent_slower_is_found", one_slower_cell_is_found_on_its_first_night, struct slower,
            {0.03, 0.90}),
        ROW("one_cell_5_percent_slower_is_found", one_slower_cell_is_found_on_its_first_night, struct slower,
            {0.05, 0.95}),
        ROW("one_cell_8_percent_slower_is_found", one_slower_cell_is_found_on_its_first_night, struct slower,
            {0.08, 0.95}),
        ROW("one_cell_10_percent_slower_is_found", one_slower_cell_is_found_on_its_first_night, struct slower,
            {0.10, 0.95}),
        cmocka_unit_test(a_slower_variant_is_found),
        cmocka_unit_test(slow_downs_of_cells_that_vary_by_themselves_are_found),
        ROW("a_slow_down_5_nights_after_one_cell_improved_is_found",
            a_slow_down_after_an_accepted_improvement_is_found, struct improvement, {1, 5}),
        ROW("a_slow_down_5_nights_after_a_variant_improved_is_found",
            a_slow_down_after_an_accepted_improvement_is_found, struct improvement, {SIMULATED_CONTEXTS, 5}),
        ROW("a_slow_down_20_nights_after_a_variant_improved_is_found",
            a_slow_down_after_an_accepted_improvement_is_found, struct improvement, {SIMULATED_CONTEXTS, 20}),
        ROW("a_slow_down_5_nights_after_all_cells_improved_is_found",
            a_slow_down_after_an_accepted_improvement_is_found, struct improvement, {SIMULATED_CELLS, 5}),
        ROW("a_slow_down_20_nights_after_all_cells_improved_is_found",
            a_slow_down_after_an_accepted_improvement_is_found, struct improvement, {SIMULATED_CELLS, 20}),
        ROW("a_slow_node_is_one_finding_without_code_identities", a_slow_node_is_one_finding,
            struct slow_node, {"common-0.5", CODES_UNKNOWN, 0.95}),
        ROW("a_slow_node_is_one_finding_with_controls", a_slow_node_is_one_finding, struct slow_node,
            {"common-0.5", CODES_SAME, 0.95}),
        ROW("a_slow_node_is_one_finding_when_all_code_changed", a_slow_node_is_one_finding, struct slow_node,
            {"common-0.5", CODES_ALL_NEW, 0.95}),
        ROW("a_slow_node_that_varies_by_1_5_percent_is_one_finding", a_slow_node_is_one_finding,
            struct slow_node, {"common-1.5", CODES_SAME, 0.80}),
        cmocka_unit_test(a_change_of_most_code_is_not_taken_for_the_node),
        cmocka_unit_test(a_swapped_gpu_is_no_regression),
        {.name = "drift_from_a_stored_baseline_is_found_on_a_quiet_node",
         .test_func = drift_from_a_stored_baseline_is_found_by_7_5_percent,
         .initial_state = (void *)"common-0.5"},
        {.name = "drift_from_a_stored_baseline_is_found_on_a_noisy_node",
         .test_func = drift_from_a_stored_baseline_is_found_by_7_5_percent,
         .initial_state = (void *)"common-1.5"},
        cmocka_unit_test(confirming_refutes_no_real_regression_under_heavy_tails),
        cmocka_unit_test(confirming_keeps_real_regressions_on_a_quiet_node),
        cmocka_unit_test(confirming_leaves_no_false_alarm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
