/* task: what runs inside a scheduler's job: one attempt at one task of an order (order.h), supervised like
 * any run, in a folder of its own that no other attempt ever writes to. Who it is it learns from Slurm's
 * environment.
 */
#ifndef KERNSWEEP_EXECUTOR_COMMANDS_TASK_H
#define KERNSWEEP_EXECUTOR_COMMANDS_TASK_H

#include "common/base/err.h"
#include "executor/workdir/layout.h"

/* The exit code, or -1. Does nothing when nobody waits for the task. */
int task_run(const struct layout *layout, const char *run_id, int order, struct err *err);

#endif
