/* submit: reads a plan and its job, creates the run's folder and starts its supervisor detached, in a session
 * of its own and without our descriptors, so that it outlives the connection. The run's lock is taken here
 * and inherited by the fork, so that a concurrent submit cannot start a second supervisor.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "executor/workdir/layout.h"

/* Reads {"plan", "job"} from in_fd; appends one JSON object to out. */
int submit(const struct layout *layout, int in_fd, struct buf *out, struct err *err);
