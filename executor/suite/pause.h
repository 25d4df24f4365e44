/* pause: whether a test was stopped while it ran, by a suspended job, a signal from outside, a frozen control
 * group or a machine that slept. Its times then have the pause in them.
 */
#pragma once

#include "executor/telemetry/sampler.h"

#include <stdbool.h>

struct pause {
    double asleep_s; /* of the machine since it started, at the test's start */
};

void pause_begin(struct pause *p);
/* Seconds; 0: none was seen. continued: the test was told to go on. frozen_s: as the child's result has it.
 */
double pause_length(const struct pause *p, const struct sampler *samples, bool continued, double frozen_s);
