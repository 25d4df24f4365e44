/* bisect_detach: goes on with a stored search in a process of its own, which outlives this command and the
 * terminal. */
#ifndef KERNSWEEP_HARNESS_COMMANDS_MEASURE_BISECT_DETACH_H
#define KERNSWEEP_HARNESS_COMMANDS_MEASURE_BISECT_DETACH_H

#include "harness/commands/base/cmd.h"

/* log: char[FS_PATH_MAX], the file with what the process prints, beside the store. */
int bisect_detach(const struct cmd_env *env, const char *name, char *log, struct err *err);

#endif
