/* status: every run of the workdir, or one, as a JSON array: its progress, and whether it is supervised.
 * Reads only the job, the end of the journal and the summary.
 */
#pragma once

#include "common/base/err.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

/* run_id NULL: all, newest first. NULL on error. */
json_t *status_report(const struct layout *layout, const char *run_id, struct err *err);
