/* nvml_command: runs the NVML helper as a command (nvml_helper/control.h): a process of its own that ends
 * before the call returns.
 */
#ifndef KERNSWEEP_EXECUTOR_TELEMETRY_NVML_COMMAND_H
#define KERNSWEEP_EXECUTOR_TELEMETRY_NVML_COMMAND_H

#include "common/base/run.h"
#include "executor/telemetry/nvml_helper/control.h"

/* words: after the program's name, NULL-terminated, at most 5. out (may be NULL): its standard output. -1
 * when it could not be run; else its exit code is in res. */
int nvml_command(const char *const *words, struct buf *out, struct run_result *res, struct err *err);

#endif
