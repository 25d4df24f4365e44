/* Change points of simulated series, with fixed seeds: whether bumps, and steps after an outlier night, are
 * found, and how often a series without changes has one. The rates that are asserted are those to reach.
 */
#include "tests/unit/simulation_support.h"

#include "results/judge/nights/changes.h"

enum { SERIES_NIGHTS = 60, SPIKE_NIGHT = 30 };

struct series {
    double noise;    /* of the cell between nights */
    size_t from, to; /* the nights that are 5 % slower; none if equal */
    double spike;    /* on night SPIKE_NIGHT; 0: none */
    double found;
};

static bool has_change(const struct changes *c, size_t at, bool slower)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].at + 2 >= at && c->items[i].at <= at + 2 && (c->items[i].ratio > 1) == slower)
            return true;
    return false;
}

/* Whether each step that was planted in the series is found within two nights, or, with none, whether any
 * change is. */
static bool found_in(const struct simulated *n, size_t cell, const struct series *t)
{
    struct changes c;
    double x[SERIES_NIGHTS];
    const struct changes_options o = changes_defaults();
    for (size_t i = 0; i < SERIES_NIGHTS; i++)
        x[i] = simulated_median(n, i, cell);
    changes_find(x, SERIES_NIGHTS, &o, &c);
    bool found = t->from == t->to ? c.count > 0
                                  : has_change(&c, t->from, true) &&
                                        (t->to == SERIES_NIGHTS || has_change(&c, t->to, false));
    changes_release(&c);
    return found;
}

static int count_found(const struct series *t, uint64_t seed, int *of)
{
    const struct noise_model m = {.name = "series", .cell = t->noise, .within = 0.007};
    int found = 0;
    *of = 0;
    for (uint64_t i = 0; i < 8; i++) {
        AUTO(simulated_release) struct simulated n = {0};
        simulated_init(&n, &m, SERIES_NIGHTS, seed + i);
        simulated_plant(&n, 0, SIMULATED_CELLS, t->from, t->to, 1.05);
        simulated_plant(&n, 0, SIMULATED_CELLS, SPIKE_NIGHT, SPIKE_NIGHT + 1, 1 + t->spike);
        simulated_measure(&n);
        for (size_t cell = 0; cell < SIMULATED_CELLS; cell++, ++*of)
            found += found_in(&n, cell, t);
    }
    return found;
}

static void what_changed_in_a_series_is_found(void **state)
{
    const struct series *t = *state;
    int of, found = count_found(t, 10000, &of);
    assert_least("series with the change found", found, of, t->found);
}

static void a_series_without_changes_has_none(void **state)
{
    const struct series *t = *state;
    int of, found = count_found(t, 11000, &of);
    assert_most("series with a change", found, of, 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROW("a_bump_of_8_nights_is_found_at_0_5_percent_noise", what_changed_in_a_series_is_found,
            struct series, {0.005, 26, 34, 0, 0.99}),
        ROW("a_bump_of_8_nights_is_found_at_1_5_percent_noise", what_changed_in_a_series_is_found,
            struct series, {0.015, 26, 34, 0, 0.85}),
        ROW("a_step_is_found", what_changed_in_a_series_is_found, struct series,
            {0.015, 40, SERIES_NIGHTS, 0, 0.95}),
        ROW("a_step_after_a_spike_of_30_percent_is_found", what_changed_in_a_series_is_found, struct series,
            {0.015, 40, SERIES_NIGHTS, 0.3, 0.95}),
        ROW("a_step_after_a_spike_of_100_percent_is_found", what_changed_in_a_series_is_found, struct series,
            {0.015, 40, SERIES_NIGHTS, 1, 0.95}),
        ROW("a_step_after_a_spike_on_a_quiet_node_is_found", what_changed_in_a_series_is_found, struct series,
            {0.005, 40, SERIES_NIGHTS, 1, 0.95}),
        ROW("a_series_without_changes_has_none", a_series_without_changes_has_none, struct series,
            {0.015, 0, 0, 0, 0}),
        ROW("a_spike_is_no_change", a_series_without_changes_has_none, struct series, {0.015, 0, 0, 0.3, 0}),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
