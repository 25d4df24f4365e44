/* stall: informs followers that a run is waiting for something external, once per reason, and when it
 * resumes. Both are NODE events with a `stalled` member: an object while the run waits, null when that is
 * over.
 */
#ifndef KERNSWEEP_EXECUTOR_SCHEDULER_STALL_H
#define KERNSWEEP_EXECUTOR_SCHEDULER_STALL_H

#include "executor/suite/suite.h"

struct stall {
    bool on;
    char reason[REASON_MAX]; /* of the last event */
};

/* patience_s: how long to follow without a change; NaN: indefinitely. */
int stall_begin(struct stall *stall, struct suite *s, const char *reason, double patience_s, struct err *err);
int stall_end(struct stall *stall, struct suite *s, const char *message, struct err *err);

#endif
