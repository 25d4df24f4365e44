/* settle: waits until GPU memory has returned to its level before a test, within the job's limits.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_SETTLE_H
#define KERNSWEEP_EXECUTOR_RUN_SETTLE_H

#include "executor/run/suite.h"

struct settle {
    double before, after; /* bytes; NaN without GPU telemetry */
    struct sample end;    /* the first one after the test */
    bool looked;          /* it was taken */
    bool back;
};

void settle_wait(struct settle *out, struct suite *s, const struct sample *before);

#endif
