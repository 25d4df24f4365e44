/* profile: after the timed tests, one untimed test of each variant and context under a profiler (ncu,
 * rocprofv3), which counts what the job names. Its output is kept as it is,
 * <variant>/ctx_<N>_counters/counters.csv; nobody times it. What is not possible here is one note of the run,
 * never a failure of it.
 */
#pragma once

#include "common/base/strvec.h"
#include "common/contract/counters.h"
#include "executor/suite/suite.h"

enum { PROFILE_CELLS_MAX = 16 };

/* Nothing without counters in the job. -1 only for faults of our own. */
int profile_run(struct suite *s, struct err *err);

/* Whether NVIDIA's driver lets only root count; params: the contents of /proc/driver/nvidia/params. */
bool profiler_is_admin_only(const char *params);

/* The words to which the test's own command is to be added. csv: the file that ncu writes; folder: where
 * rocprofv3 puts its files. */
void profiler_command(const struct counters *c, enum counters_tool tool, const char *csv, const char *folder,
                      struct strvec *out);
