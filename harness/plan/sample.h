/* sample: what a plan's timings rule and metrics find in a program's output, as a node would read it. Pure:
 * takes a text, knows neither files nor nodes.
 */
#pragma once

#include "common/contract/timings.h"
#include "harness/plan/plan.h"

enum { SAMPLE_VALUES_MAX = TIMINGS_MAX + LIMIT_METRICS, SAMPLE_WHY_MAX = 300 };

struct sample_value {
    char name[LIMIT_NAME + 1];
    char unit[LIMIT_UNIT + 1]; /* "" if unknown */
    double value;
    size_t line; /* that set the value last; 0: not found */
    bool primary;
    char why[SAMPLE_WHY_MAX]; /* the reason if it was not found */
};

struct sample {
    struct sample_value item[SAMPLE_VALUES_MAX];
    size_t count, found;
    bool wall;                        /* the plan reads no output */
    char problem[LIMIT_PATTERN + 32]; /* what is wrong with the output as a whole, or "" */
};

int sample_read(struct sample *out, const struct plan *p, const char *text, size_t len, struct err *err);
