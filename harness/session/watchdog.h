/* watchdog: detects that the executor of a followed run no longer works, although the node answers. An
 * executor reports every second while a test runs, and `follow` reports when its process is stopped. Also
 * limits how often a dead executor is restarted: only while the run makes progress, and not too often in a
 * row. Pure: the caller supplies the time (monotonic seconds).
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
    int tests;      /* running on the node; a report is due every second */
    double since_s; /* time of the last sign of work */
    long stopped;   /* pid of the stopped executor, or 0 */
    bool told;
};

void watchdog_begin(struct watchdog *w, double now_s);
/* An event of the journal. elsewhere: its test runs on another machine, whose reports come late. */
void watchdog_event(struct watchdog *w, enum event_type type, bool elsewhere, double now_s);
/* `follow` has reported that the executor's process pid is stopped, or with 0 that it is not. */
void watchdog_stopped(struct watchdog *w, long pid);
/* text: char[WATCHDOG_TEXT_MAX], what is wrong, or "". */
enum watchdog_verdict watchdog_look(struct watchdog *w, double patience_s, double now_s, char *text);

/* {0}: no restart so far. */
struct restarts {
    int idle;                         /* restarts since something was last finished */
    int count;                        /* total number of restarts */
    double at_s[RESTARTS_WINDOW_MAX]; /* times of the newest ones; a ring */
};

/* Notes that something was finished that need not be repeated. */
void restarts_progress(struct restarts *r);
/* Whether another restart is allowed now (monotonic seconds); if so, counts it. */
bool restarts_allow(struct restarts *r, double now_s);
