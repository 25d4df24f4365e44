/* ab: how often equal builds are called slower, and how often a slower one is found, by the rule of its
 * rounds on simulated times. docs/pull-requests.md states these rates. */
#include "harness/commands/measure/ab_rounds.h"
#include "results/judge/compare.h"
#include "results/judge/turns.h"
#include "tests/unit/support.h"

#include <math.h>

enum { PAIRS = 100, VALUES_MAX = 2 * 5 * 5 };

/* How a plan measures. */
struct way {
    double threshold;
    int repetitions, rounds;
};

struct rates {
    int slower, open;
    int tests; /* of both sides, of all pairs */
};

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double noisy(uint64_t *state, double level, double noise)
{
    double normal = sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
    return level * exp(noise * normal);
}

/* Measures one pair of builds. */
static enum verdict measure(uint64_t *state, const struct way *w, double noise, double ratio, int *tests)
{
    static double base[VALUES_MAX], now[VALUES_MAX];
    struct ab_cell c = {.open = true, .delta = delta_of("v", 64, METRIC_PREFILL_S)};
    struct compare_options o = compare_defaults();
    struct pair v = {.base = base, .now = now};
    o.regression = o.improvement = w->threshold;
    for (int round = 0; c.open && round < w->rounds; round++) {
        for (int i = 0; i < 2 * w->repetitions; i++) {
            base[v.base_n++] = noisy(state, 1, noise);
            now[v.now_n++] = noisy(state, ratio, noise);
        }
        *tests += 4 * w->repetitions;
        turns_judge_values(&v, METRIC_PREFILL_S, &o, &c.delta);
        ab_rounds_note(&c, w->rounds);
    }
    ab_rounds_end(&c, w->rounds);
    return c.delta.verdict;
}

static struct rates rates_of(struct way w, double noise, double ratio)
{
    struct rates r = {.slower = 0};
    uint64_t state = 20260301;
    for (int i = 0; i < PAIRS; i++) {
        enum verdict verdict = measure(&state, &w, noise, ratio, &r.tests);
        r.slower += verdict == VERDICT_REGRESSED;
        r.open += verdict == VERDICT_NOISY;
    }
    print_message(
        "threshold %.0f %%, %d repetitions, up to %d rounds, noise %.0f %%, %+.0f %%: %d slower, %d "
        "undecided, %d tests a pair\n",
        100 * w.threshold, w.repetitions, w.rounds, 100 * noise, 100 * (ratio - 1), r.slower, r.open,
        r.tests / PAIRS);
    return r;
}

/* What docs/pull-requests.md advises where the noise is 5 %. */
TEST(five_percent_is_found_at_five_percent_of_noise)
{
    const struct way advised = {.threshold = 0.02, .repetitions = 5, .rounds = 5};
    struct rates equal = rates_of(advised, 0.05, 1), slower = rates_of(advised, 0.05, 1.05);
    assert_true(equal.slower <= 1);
    assert_true(slower.slower >= 95);
    assert_true(equal.tests / PAIRS <= 100 && slower.tests / PAIRS <= 60);
}

TEST(a_plan_without_settings_finds_ten_percent_of_a_quiet_node)
{
    const struct way usual = {.threshold = 0.05, .repetitions = 3, .rounds = 3};
    struct rates equal = rates_of(usual, 0.02, 1), slower = rates_of(usual, 0.02, 1.1);
    assert_true(equal.slower <= 1 && slower.slower >= 95);
}
