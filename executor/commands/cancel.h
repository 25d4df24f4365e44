/* cancel: asks a run's supervisor to stop its test and to close the run as CANCELLED, and waits for it. A run
 * that nobody supervises is closed here.
 */
#ifndef KERNSWEEP_EXECUTOR_COMMANDS_CANCEL_H
#define KERNSWEEP_EXECUTOR_COMMANDS_CANCEL_H

#include "common/base/err.h"
#include "executor/workdir/layout.h"

/* A run that is complete stays as it is: no error. */
int cancel(const struct layout *layout, const char *run_id, struct err *err);

#endif
