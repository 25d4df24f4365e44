/* node_lock: one run at a time builds and times in a workdir, and on a GPU, whoever else on the machine has a
 * workdir of his own. A second one waits as long as its job allows. A dead holder keeps nothing (see lock).
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_NODE_LOCK_H
#define KERNSWEEP_EXECUTOR_RUN_NODE_LOCK_H

#include "executor/place/scheduler.h"
#include "executor/run/suite.h"
#include "executor/workdir/lock.h"

struct node_lock {
    struct lock workdir;
    struct lock gpu[GPU_USE_MAX];
    size_t gpu_count;
};

void node_lock_init(struct node_lock *lock);
void node_lock_close(struct node_lock *lock);

/* 1 taken, 0 not (reason says who has it; also when the run was told to stop while it waited), -1 error. A
 * GPU's lock that cannot be opened is told by an event and does without. reason: char[REASON_MAX]. */
int node_lock_take(struct node_lock *lock, struct suite *s, char *reason, struct err *err);
/* For who builds without the workdir's lock, as jobs of a scheduler do: keeps others from builds with keys
 * that begin alike, so that there are few such files. Waits as long as a build may take. As above. */
int node_lock_build(struct lock *lock, struct suite *s, const char *key, char *reason, struct err *err);

#endif
