/* task_end: decides when a task of an array job is over: its attempt closed its own run, or the scheduler
 * lost it. Then the fence goes up, and the tests that it started and did not finish are INTERRUPTED. Acts on
 * what was collected (relay) and polled (array_queue) before; asks nobody.
 */
#pragma once

#include "executor/scheduler/array_job.h"

/* Ends the task if it is done or lost; otherwise does nothing. */
int task_end(struct suite *s, struct array_job *a, size_t index, struct err *err);
