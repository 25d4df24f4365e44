/* node_lock: lets one run at a time build and measure in a workdir, and on each GPU of the machine, whatever
 * workdirs other runs use. It also decides which GPUs a run has in the end (s->gpus). A second run waits as
 * long as its job allows. A dead holder releases its locks (see lock).
 */
#pragma once

#include "executor/suite/suite.h"
#include "executor/workdir/lock.h"

struct node_lock {
    struct lock workdir;
    struct lock gpu[GPU_USE_MAX];
    size_t gpu_count;
    char gpu_name[GPU_USE_MAX][LIMIT_NAME + 1];
    size_t unlocked; /* GPUs that are used although their lock files cannot be opened */
};

void node_lock_init(struct node_lock *lock);
void node_lock_close(struct node_lock *lock);

/* Returns 1 taken, 0 not (reason, char[REASON_MAX], names the holder; also when the run was told to stop
 * meanwhile), -1 error. A GPU whose lock file cannot be opened is used without it, and an event says so. */
int node_lock_take(struct node_lock *lock, struct suite *s, gpu_granted *granted, char *reason,
                   struct err *err);
/* Chooses the GPUs for a task, which its scheduler has given to it alone: nothing is locked. Returns as
 * above. */
int node_lock_granted(struct suite *s, gpu_granted *granted, char *reason, struct err *err);
/* Locks a build's folder for a scheduler's task, which has no lock on the workdir. One lock covers all keys
 * with the same first digit, to keep lock files few. Waits as long as a build may take. Returns as above. */
int node_lock_build(struct lock *lock, struct suite *s, const char *key, char *reason, struct err *err);
