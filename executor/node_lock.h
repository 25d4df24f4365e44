/* node_lock: one run at a time builds and times in a workdir. A second one waits as long as its job allows.
 */
#ifndef KERNSWEEP_EXECUTOR_NODE_LOCK_H
#define KERNSWEEP_EXECUTOR_NODE_LOCK_H

#include "executor/lock.h"
#include "executor/suite.h"

/* 1 taken, 0 not (reason says who has it; also when the run was told to stop while it waited), -1 error.
 * reason: char[VERDICT_REASON_MAX]. */
int node_lock_take(struct lock *lock, struct suite *s, char *reason, struct err *err);

#endif
