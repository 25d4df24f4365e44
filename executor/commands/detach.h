/* detach: a supervisor that outlives the process that started it.
 */
#pragma once

#include "common/base/err.h"
#include "executor/workdir/layout.h"
#include "executor/workdir/lock.h"

#include <sys/types.h>

/* Forks a supervisor of the run into a session of its own, with nothing open but executor.log and the run's
 * lock, which it inherits; the caller may close its own copy. Returns when it has reported its pid, within a
 * deadline. */
int detach_supervisor(const struct layout *layout, const char *dir, const char *run_id, struct lock *lock,
                      pid_t *pid, struct err *err);

/* Supervises in this process, with the lock held; reports an error on stderr (the log, when detached).
 * Returns the exit code. */
int detach_supervise(const struct layout *layout, const char *run_id, struct lock *lock);
/* Detaches a supervisor of a run that was submitted before, unless it has one. Once this returns, the run is
 * supervised, or err says why not. */
int detach_again(const struct layout *layout, const char *run_id, struct err *err);
/* Supervises in this process, after taking the run's lock; -1 when it is held. */
int detach_foreground(const struct layout *layout, const char *run_id, struct err *err);
