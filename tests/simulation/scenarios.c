#include "tests/simulation/scenarios.h"

#include <math.h>

enum { ALL = SIMULATED_CELLS, VARIANT = SIMULATED_CONTEXTS };

#define FIRST_NIGHT(title_, noise_, by)                                                                      \
    {                                                                                                        \
        .title = (title_), .noise = (noise_), .count = 21, .first = 11, .cells = 1, .factor = 1 + (by)       \
    }
#define IMPROVED(title_, cells_, nights_)                                                                    \
    {                                                                                                        \
        .title = (title_), .noise = "common-1.5", .count = 26 + (nights_), .first = 3, .cells = 1,           \
        .factor = 1.1, .improved = (cells_), .improved_for = (nights_)                                       \
    }
#define UNFIXED(title_, against_, nights_)                                                                   \
    {                                                                                                        \
        .title = (title_), .noise = "common-1.5", .against = (against_), .count = 21 + (nights_),            \
        .base = 15, .first = 11, .cells = 1, .factor = 1.08, .since = (nights_)                              \
    }
#define NODE(title_, noise_, by, ...)                                                                        \
    {                                                                                                        \
        .title = (title_), .noise = (noise_), .count = 21, .cells = ALL, .factor = 1 + (by), __VA_ARGS__     \
    }
#define DRIFT(title_, nights_)                                                                               \
    {                                                                                                        \
        .title = (title_), .noise = "common-0.5", .against = AGAINST_BOTH, .count = 11 + (nights_),          \
        .base = 10, .cells = ALL, .factor = 1, .drift = 0.003                                                \
    }

static const struct scenario all[] = {
    FIRST_NIGHT("one cell +3 %", "common-1.5", 0.03),
    FIRST_NIGHT("one cell +5 %", "common-1.5", 0.05),
    FIRST_NIGHT("one cell +8 %", "common-1.5", 0.08),
    FIRST_NIGHT("one cell +10 %", "common-1.5", 0.10),
    FIRST_NIGHT("one cell +5 %", "cell-1.5", 0.05),
    FIRST_NIGHT("one cell +10 %", "cell-1.5", 0.10),
    {.title = "a variant +5 %",
     .noise = "common-1.5",
     .count = 21,
     .first = VARIANT,
     .cells = VARIANT,
     .factor = 1.05},
    IMPROVED("a variant -20 %, 1 night later a cell +10 %", VARIANT, 1),
    IMPROVED("a variant -20 %, 5 nights later a cell +10 %", VARIANT, 5),
    IMPROVED("a variant -20 %, 20 nights later a cell +10 %", VARIANT, 20),
    IMPROVED("all -20 %, 1 night later a cell +10 %", ALL, 1),
    IMPROVED("all -20 %, 5 nights later a cell +10 %", ALL, 5),
    IMPROVED("all -20 %, 20 nights later a cell +10 %", ALL, 20),
    UNFIXED("a cell +8 % since 1 night", AGAINST_NIGHTS, 1),
    UNFIXED("a cell +8 % since 10 nights", AGAINST_NIGHTS, 10),
    UNFIXED("a cell +8 % since 10 nights, against a baseline", AGAINST_BOTH, 10),
    UNFIXED("a cell +8 % since 19 nights, against a baseline", AGAINST_BOTH, 19),
    NODE("node +3 %", "common-0.5", 0.03, .code = CODE_UNKNOWN),
    NODE("node +8 %", "common-0.5", 0.08, .code = CODE_UNKNOWN),
    NODE("node +8 %, code known", "common-0.5", 0.08, .code = CODE_KNOWN),
    NODE("node +8 %, all code changed", "common-0.5", 0.08, .code = CODE_CHANGED),
    NODE("node +8 %, code known", "common-1.5", 0.08, .code = CODE_KNOWN),
    {.title = "new code of four variants +8 %",
     .noise = "common-1.5",
     .count = 21,
     .cells = 4 * VARIANT,
     .factor = 1.08,
     .code = CODE_CHANGED},
    NODE("another GPU, +4 %", "common-0.5", 0.04, .other_gpu = true),
    DRIFT("drift to +1.5 % from a baseline", 5),
    DRIFT("drift to +4.6 % from a baseline", 15),
    DRIFT("drift to +6.2 % from a baseline", 20),
    DRIFT("drift to +7.5 % from a baseline", 24),
};

const struct scenario *scenarios(size_t *count)
{
    *count = sizeof all / sizeof *all;
    return all;
}

void scenario_plant(const struct scenario *s, struct simulated *n)
{
    size_t last = n->count - 1;
    if (s->code != CODE_UNKNOWN)
        simulated_identify(n);
    for (size_t v = 0; s->code == CODE_CHANGED && v < s->cells / SIMULATED_CONTEXTS; v++)
        simulated_change_code(n, v, last);
    if (s->other_gpu)
        simulated_swap_gpu(n, last);
    simulated_plant(n, 0, s->improved, last - s->improved_for, n->count, 0.8);
    simulated_plant(n, s->first, s->cells, last - s->since, n->count, s->factor);
    for (size_t i = s->base + 1; s->drift > 0 && i <= last; i++)
        simulated_plant(n, 0, SIMULATED_CELLS, i, i + 1, pow(1 + s->drift, (double)(i - s->base)));
}
