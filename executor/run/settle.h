/* settle: waits until GPU memory is back at the level it had before a test, and tells whether it came back.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_SETTLE_H
#define KERNSWEEP_EXECUTOR_RUN_SETTLE_H

#include "executor/run/suite.h"

struct settle {
    double before, after; /* bytes; NaN where no GPU memory is shown */
    bool back;
};

void settle_wait(struct settle *out, struct suite *s, const struct sample *before);

#endif
