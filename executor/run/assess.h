/* assess: the status of a finished test, from how its process ended and from what it printed. Exit code 0 is
 * not enough: the timings must be there, finite, and of the context and variant that were asked for. Pure.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_ASSESS_H
#define KERNSWEEP_EXECUTOR_RUN_ASSESS_H

#include "executor/process/ending.h"
#include "executor/run/timings.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORKLOAD_EXIT_SKIP = 77 }; /* with a line "SKIP: reason": the program itself declines the test */

struct expectation {
    int64_t context;
    const char *attn_impl; /* "" is not checked */
    bool prompt_tokens_required;
};

struct assessment assess_test(const struct ending *ending, const struct timings *t,
                              const struct expectation *e);

#endif
