/* restarts: how often something that died may be started again: as long as it gets on, and never so often
 * that it is dying all the time. Pure: the caller brings the clock.
 */
#pragma once

#include <stdbool.h>

enum {
    RESTARTS_IDLE_MAX = 3,    /* in a row, with nothing finished in between */
    RESTARTS_WINDOW_MAX = 12, /* within RESTARTS_WINDOW_S */
    RESTARTS_WINDOW_S = 600,
};

/* {0}: none yet. */
struct restarts {
    int idle;                         /* since something was finished */
    int count;                        /* in all */
    double at_s[RESTARTS_WINDOW_MAX]; /* when, of the newest; a ring */
};

/* Something was finished that need not be done again. */
void restarts_progress(struct restarts *r);
/* Whether another restart may be made at this time (monotonic seconds); if so, counts it. */
bool restarts_allow(struct restarts *r, double now_s);
