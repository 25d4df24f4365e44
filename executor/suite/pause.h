/* pause: whether a test was stopped while it ran, by a suspended job, a signal from outside, a frozen control
 * group or a machine that slept. Its times then have the pause in them.
 */
#pragma once

#include "executor/telemetry/sampler.h"

#include <stdbool.h>
#include <sys/types.h>

struct pause {
    double asleep_s; /* of the machine since it started, at the test's start */
    bool continued;  /* the test was told to go on */
};

void pause_begin(struct pause *p);
/* To be called at each sample. pid: the test's process. */
void pause_look(struct pause *p, pid_t pid);
/* Seconds; 0: none was seen. frozen_s: as the child's result has it. */
double pause_length(const struct pause *p, const struct sampler *samples, double frozen_s);
