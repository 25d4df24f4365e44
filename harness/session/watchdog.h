/* watchdog: whether the executor of a followed run still does its work, although the node answers: an
 * executor reports every second while a test runs, and `follow` says when its process is stopped. And how
 * often one that died may be started again: as long as the run gets on, and never so often that it is dying
 * all the time. Pure: the caller brings the clock (monotonic seconds).
 */
#pragma once

#include "common/contract/proto.h"

#include <stdbool.h>

enum {
    WATCHDOG_TELL_S = 15,
    WATCHDOG_STOPPED_TELL_S = 5,
    WATCHDOG_PATIENCE_MIN_S = 120,
    WATCHDOG_TEXT_MAX = 160,
    RESTARTS_IDLE_MAX = 3,    /* in a row, with nothing finished in between */
    RESTARTS_WINDOW_MAX = 12, /* within RESTARTS_WINDOW_S */
    RESTARTS_WINDOW_S = 600,
};

enum watchdog_verdict {
    WATCHDOG_QUIET,
    WATCHDOG_TELL,    /* once per silence: tell the user */
    WATCHDOG_GIVE_UP, /* the patience is over */
};

struct watchdog {
    int tests;      /* in flight on the node: a report is due every second */
    double since_s; /* of the last sign of work */
    long stopped;   /* pid of the executor, while it is stopped; 0 */
    bool told;
};

void watchdog_begin(struct watchdog *w, double now_s);
/* An event of the journal. elsewhere: of a test that another machine runs, whose reports come late. */
void watchdog_event(struct watchdog *w, enum event_type type, bool elsewhere, double now_s);
/* `follow` has seen that this process, the executor, is stopped. */
void watchdog_stopped(struct watchdog *w, long pid);
/* text: char[WATCHDOG_TEXT_MAX], what is wrong; "" while nothing is. */
enum watchdog_verdict watchdog_look(struct watchdog *w, double patience_s, double now_s, char *text);

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
