/* assess: the status of a finished test, from how its process ended and from what it printed. Exit code 0 is
 * not enough: what the plan says is printed must be there, finite, possible, and of the context and variant
 * that were asked for. Pure.
 */
#pragma once

#include "common/contract/timings.h"
#include "executor/process/ending.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORKLOAD_EXIT_SKIP = 77 }; /* with a line "SKIP: reason": the program itself declines the test */

struct expectation {
    int64_t context;       /* that the prompt must have; 0: the program was asked for none */
    const char *attn_impl; /* "" is not checked */
    bool prompt_tokens_required;
    const struct timing_rule *rule;    /* NULL: the default one */
    const struct own_metrics *metrics; /* NULL: none */
    double wall_s; /* of the process: no time that it printed is longer; NaN: not checked */
};

struct assessment assess_test(const struct ending *ending, const struct timings *t,
                              const struct expectation *e);

/* Returns the seconds per unit of a printed value that is a time ("decode_s", "kernel_ms", a metric whose
 * unit is a time); 0 for others. metrics may be NULL. */
double assess_seconds(const char *name, const struct own_metrics *metrics);
