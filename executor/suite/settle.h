/* settle: GPU memory on its way back to its level before a test, within the job's limits. A state that is
 * looked at after every wait of the loop, so that other lanes go on meanwhile.
 */
#pragma once

#include "executor/process/loop.h"
#include "executor/telemetry/telemetry.h"

#include <stdbool.h>
#include <stdint.h>

struct settle {
    struct telemetry *telemetry; /* borrowed, as the timer */
    struct loop_watch *timer;
    double before, after; /* bytes; NaN without GPU telemetry */
    double tolerance;     /* bytes above `before` that count as back */
    struct sample end;    /* the first one after the test */
    bool asked;           /* for the next one */
    bool looked;          /* one was taken */
    bool back;
    int64_t until_ns;
};

/* Asks for the first sample. Then as settle_turn(). */
bool settle_begin(struct settle *out, double limit_s, int64_t now_ns);
/* After each wait. True once the memory is back, or the time is over; else the timer is armed for the next
 * turn that is needed at the latest. */
bool settle_turn(struct settle *out, int64_t now_ns);
