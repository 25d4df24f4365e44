/* gpu_idle: waits until no program uses the run's GPUs, by their load over a window, as one look may fall
 * between two bursts. Only for runs that say so: those of `ab`, and sweeps with lock_wait_s.
 */
#pragma once

#include "executor/suite/suite.h"

/* Returns 1 to measure, 0 where `ab` may not (reason, char[REASON_MAX]) or a stop was requested, -1 error. */
int gpu_idle_await(struct suite *s, char *reason, struct err *err);
