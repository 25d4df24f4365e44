/* simulation_support: shared by the tests on simulated nights: rates with their limits, and the models by
 * name.
 */
#pragma once

#include "tests/unit/support.h"

#include "tests/simulation/trial.h"

static inline void assert_most(const char *what, int count, int of, double limit)
{
    print_message("%s: %d of %d (at most %.1f %%)\n", what, count, of, 100 * limit);
    assert_true(of >= 100);
    assert_true(count <= limit * of);
}

static inline void assert_least(const char *what, int count, int of, double limit)
{
    print_message("%s: %d of %d (at least %.1f %%)\n", what, count, of, 100 * limit);
    assert_true(of >= 100);
    assert_true(count >= limit * of);
}

static inline const struct noise_model *model_of(const char *name)
{
    const struct noise_model *m = noise_model_named(name);
    assert_non_null(m);
    return m;
}

enum { HISTORY_LEAST = 8, HISTORY_RANGE = 33 };

/* A night after 8 to 40 others; which cell is slower, if any, and by how much. */
static inline void make_nights(struct simulated *n, const struct noise_model *m, uint64_t seed, size_t cell,
                               double factor)
{
    simulated_init(n, m, HISTORY_LEAST + seed % HISTORY_RANGE + 1, seed);
    if (cell != NO_CELL)
        simulated_plant(n, cell, 1, n->count - 1, n->count, factor);
    simulated_measure(n);
}

static inline int count_verdict(const struct comparison *c, enum verdict v)
{
    int count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->deltas[i].verdict == v;
    return count;
}

/* One row of a table of tests: title, function, and the parameters that it gets as its state. */
#define ROW(title, test, type, ...)                                                                          \
    {                                                                                                        \
        .name = title, .test_func = test, .initial_state = &(type)__VA_ARGS__                                \
    }
