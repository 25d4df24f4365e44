/* profile: after the timed tests, one untimed test of each variant and context runs under a profiler (ncu,
 * rocprofv3), which counts what the job names. Its output is kept unchanged in
 * <variant>/ctx_<N>_counters/counters.csv, or counters.db if it wrote a database only. Where counting is not
 * possible, the run notes that and goes on.
 */
#pragma once

#include "common/base/strvec.h"
#include "common/contract/counters.h"
#include "executor/suite/suite.h"

enum { PROFILE_CELLS_MAX = 16 };

/* Does nothing if the job names no counters. Returns -1 only for faults of our own. */
int profile_run(struct suite *s, struct err *err);

/* Whether NVIDIA's driver lets only root count; params: the contents of /proc/driver/nvidia/params. */
bool profiler_is_admin_only(const char *params);

/* Appends the words that precede the test's own command. csv: the file that ncu writes; folder: where
 * rocprofv3 puts its files. */
void profiler_command(const struct counters *c, enum counters_tool tool, const char *csv, const char *folder,
                      struct strvec *out);
