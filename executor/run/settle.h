/* settle: waits until GPU memory has returned to its level before a test, within the job's limits.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_SETTLE_H
#define KERNSWEEP_EXECUTOR_RUN_SETTLE_H

#include "executor/run/suite.h"

struct settle {
    double before, after; /* bytes; NaN without GPU telemetry */
    bool back;
};

void settle_wait(struct settle *out, struct suite *s, const struct sample *before);

#endif
