/* cancel: makes a run's supervisor stop its test and close the run as CANCELLED, and waits for that. A run
 * without a supervisor is closed here.
 */
#pragma once

#include "common/base/err.h"
#include "executor/workdir/layout.h"

/* A closed run stays as it is: no error. */
int cancel(const struct layout *layout, const char *run_id, struct err *err);
