/* profile: after the timed tests, one untimed test of each variant and context under a profiler (ncu,
 * rocprofv3), which counts what the job names. Its output is kept as it is,
 * <variant>/ctx_<N>_counters/counters.csv; nobody times it. What is not possible here is one note of the run,
 * never a failure of it.
 */
#pragma once

#include "executor/suite/suite.h"

enum { PROFILE_CELLS_MAX = 16 };

/* Nothing without counters in the job. -1 only for faults of our own. */
int profile_run(struct suite *s, struct err *err);
