/* task: the command inside a scheduler's job: one attempt at one task of an array job
 * (scheduler/array_job.h), supervised like any run, in a folder of its own that no other attempt ever writes
 * to.
 */
#pragma once

#include "common/base/err.h"
#include "executor/workdir/layout.h"

/* The exit code, or -1. Does nothing when the task's results are no longer needed. */
int task_run(const struct layout *layout, const char *run_id, int array, struct err *err);
