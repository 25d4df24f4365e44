/* relay: collects what an attempt's journal says: its events go into the run's own journal, each exactly
 * once, with the attempt that they came from; a final result is adopted before its event is written. So the
 * run has one journal with one writer, however many machines work on it.
 */
#pragma once

#include "executor/scheduler/array_job.h"

/* Reads on in the journal of the task's newest attempt. Sets task->closed once all of it is collected. */
int relay_collect(struct suite *s, struct array_job *a, size_t index, struct err *err);

/* TEST_END of the tests that the attempt started and did not end; they may run again. */
int relay_interrupted(struct suite *s, const struct array_job *a, size_t index, const char *reason,
                      struct err *err);
