/* submit: takes a plan and its job, makes the run's folder and starts its supervisor detached: a session of
 * its own, no descriptor of ours, so that it outlives the connection. The run's lock is taken here and handed
 * over by the fork: there is no moment in which a second submit could start a second supervisor.
 */
#ifndef KERNSWEEP_EXECUTOR_COMMANDS_SUBMIT_H
#define KERNSWEEP_EXECUTOR_COMMANDS_SUBMIT_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "executor/workdir/layout.h"

/* Reads {"plan", "job"} from in_fd; appends one JSON object to out. */
int submit(const struct layout *layout, int in_fd, struct buf *out, struct err *err);

#endif
