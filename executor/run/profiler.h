/* profiler: the command lines of ncu and rocprofv3, and who may use them. Pure; profile.h runs them.
 */
#pragma once

#include "common/base/strvec.h"
#include "common/contract/counters.h"

/* Whether NVIDIA's driver lets only root count; params: the contents of /proc/driver/nvidia/params. */
bool profiler_is_admin_only(const char *params);

/* The words to which the test's own command is to be added. csv: the file that ncu writes; folder: where
 * rocprofv3 puts its files. */
void profiler_command(const struct counters *c, enum counters_tool tool, const char *csv, const char *folder,
                      struct strvec *out);
