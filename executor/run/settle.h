/* settle: GPU memory on its way back to its level before a test, within the job's limits. A state that is
 * looked at after every wait of the loop, so that other lanes go on meanwhile.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_SETTLE_H
#define KERNSWEEP_EXECUTOR_RUN_SETTLE_H

#include "executor/process/loop.h"
#include "executor/telemetry/telemetry.h"

#include <stdbool.h>
#include <stdint.h>

struct settle {
    struct telemetry *telemetry; /* borrowed */
    double before, after;        /* bytes; NaN without GPU telemetry */
    double tolerance;            /* bytes above `before` that count as back */
    struct sample end;           /* the first one after the test */
    bool looked;                 /* it was taken */
    bool back;
    int64_t until_ns;
};

/* The first look. True when there is nothing to wait for; else the timer is armed for the next ones. */
bool settle_begin(struct settle *out, struct loop_watch *timer, double limit_s);
/* When the timer is ready. True once the memory is back, or the time is over. */
bool settle_turn(struct settle *out, int64_t now_ns);

#endif
