/* relay: collects what an attempt's journal says: its events go into the run's own journal, each exactly
 * once, with the attempt that they came from; a final result is adopted before its event is written. So the
 * run has one journal with one writer, however many machines work on it.
 */
#pragma once

#include "executor/scheduler/array_job.h"

/* Reads on in the journal of the task's newest attempt. Sets task->closed once all of it is collected. */
int relay_collect(struct suite *s, struct array_job *a, size_t index, struct err *err);

/* Ends the task if its attempt closed its own run, or if the scheduler lost it; otherwise does nothing. Then
 * the fence goes up, and the tests that it started and did not finish are INTERRUPTED. Acts on what was
 * collected and polled (array_queue) before; asks nobody. */
int task_end(struct suite *s, struct array_job *a, size_t index, struct err *err);
