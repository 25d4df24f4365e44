/* The judge beside a simple rule on simulated nights, with fixed seeds: its F1 has to be at least that of "5
 * % slower than the median of the last ten nights". scripts/bench/judging has more rules. Under three noises
 * it is behind, because it raises fewer false alarms than the rule does; there it has to raise no more of
 * them than the rule, or 4 %.
 * unsanitized: thousands of nights of arithmetic, as in unit/test_simulation
 */
#include "tests/unit/simulation_support.h"

enum { RACE_NIGHTS = 160 };

/* How far the judge may be behind, as it alarms on far fewer nights: under ar1-cell on 6 % instead of 36 %.
 */
static double may_be_behind(const char *model)
{
    if (strcmp(model, "ar1-cell") == 0)
        return 0.16;
    return strcmp(model, "cell-1.5") == 0 || strcmp(model, "steps-2.5") == 0 ? 0.08 : 0;
}

/* Half of the nights have one cell that is 3, 5, 8 or 10 % slower. */
static void the_judge_is_ahead_of_5_percent_against_the_last_ten_nights(void **state)
{
    static const double by[] = {0.03, 0.05, 0.08, 0.10};
    const struct noise_model *m = model_of(*state);
    struct score ours = {0}, rule = {0};
    for (uint64_t i = 0; i < RACE_NIGHTS; i++) {
        AUTO(simulated_release) struct simulated n = {0};
        bool slower[SIMULATED_CELLS];
        size_t cell = i % 2 ? (size_t)(i * 7 % SIMULATED_CELLS) : NO_CELL;
        make_nights(&n, m, 12000 + i, cell, 1 + by[i / 2 % COUNT(by)]);
        struct comparison c = trial_compare(&n, AGAINST_NIGHTS, 0);
        trial_judge(&c, slower);
        score_add(&ours, slower, cell);
        comparison_release(&c);
        trial_rule(&n, RULE_LAST_TEN, slower);
        score_add(&rule, slower, cell);
    }
    print_message("%s: F1 %.3f, false-alarm nights %.1f %%; the rule: %.3f, %.1f %%\n", m->name,
                  score_f1(&ours), 100 * score_alarms(&ours), score_f1(&rule), 100 * score_alarms(&rule));
    assert_true(score_f1(&ours) >= score_f1(&rule) - may_be_behind(m->name));
    assert_true(score_alarms(&ours) <= fmax(score_alarms(&rule), 0.04));
}

#define RACE(title, model)                                                                                   \
    {                                                                                                        \
        .name = "the_judge_is_ahead_of_a_simple_rule_under_" title,                                          \
        .test_func = the_judge_is_ahead_of_5_percent_against_the_last_ten_nights,                            \
        .initial_state = (void *)(model)                                                                     \
    }
int main(void)
{
    const struct CMUnitTest tests[] = {
        RACE("a_common_factor_of_0_5_percent", "common-0.5"),
        RACE("a_common_factor_of_1_5_percent", "common-1.5"),
        RACE("a_common_factor_of_3_percent", "common-3"),
        RACE("cells_that_vary_by_1_5_percent", "cell-1.5"),
        RACE("clock_states_by_night", "clock-by-night"),
        RACE("clock_states_within_the_night", "clock-within"),
        RACE("a_clock_that_drops_during_the_night", "clock-cut"),
        RACE("a_node_with_a_memory", "ar1-node"),
        RACE("cells_with_a_memory", "ar1-cell"),
        RACE("heavy_tails", "heavy-tail"),
        RACE("a_ramp", "ramp"),
        RACE("steps_of_1_percent", "steps-1"),
        RACE("steps_of_2_5_percent", "steps-2.5"),
        RACE("a_coarse_timer", "ticks"),
        RACE("spikes", "spikes"),
        RACE("loud_mixed_noise", "mix-loud"),
        RACE("mixed_noise_in_steps", "mix-steps"),
        RACE("mixed_noise_with_drift", "mix-drift"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
