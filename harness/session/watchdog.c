#include "harness/session/watchdog.h"

#include <stdio.h>

void watchdog_begin(struct watchdog *w, double now_s)
{
    *w = (struct watchdog){.since_s = now_s};
}

/* With several GPUs, other tests may still be running when one ends. */
static int count_tests(const struct watchdog *w, enum event_type type)
{
    if (type == EVENT_TEST_START)
        return w->tests + 1;
    if (type == EVENT_TEST_END)
        return w->tests > 0 ? w->tests - 1 : 0;
    if (type == EVENT_HEARTBEAT)
        return w->tests > 0 ? w->tests : 1;
    return type == EVENT_TEST_SKIP || type == EVENT_NODE ? w->tests : 0;
}

void watchdog_event(struct watchdog *w, enum event_type type, bool elsewhere, double now_s)
{
    *w = (struct watchdog){.tests = elsewhere ? 0 : count_tests(w, type), .since_s = now_s};
}

void watchdog_stopped(struct watchdog *w, long pid)
{
    w->stopped = pid;
}

enum watchdog_verdict watchdog_look(struct watchdog *w, double patience_s, double now_s, char *text)
{
    double silent_s = now_s - w->since_s,
           limit_s = patience_s > WATCHDOG_PATIENCE_MIN_S ? patience_s : WATCHDOG_PATIENCE_MIN_S;
    *text = '\0';
    if ((w->tests == 0 && !w->stopped) || silent_s < (w->stopped ? WATCHDOG_STOPPED_TELL_S : WATCHDOG_TELL_S))
        return WATCHDOG_QUIET;
    if (w->stopped)
        snprintf(text, WATCHDOG_TEXT_MAX,
                 "the executor (pid %ld) has been stopped for %.0f s: `kill -CONT %ld` there", w->stopped,
                 silent_s, w->stopped);
    else
        snprintf(
            text, WATCHDOG_TEXT_MAX,
            "the executor has reported nothing for %.0f s while a test runs: the node is overloaded or the "
            "process hangs",
            silent_s);
    if (silent_s >= limit_s)
        return WATCHDOG_GIVE_UP;
    bool news = !w->told;
    w->told = true;
    return news ? WATCHDOG_TELL : WATCHDOG_QUIET;
}

void restarts_progress(struct restarts *r)
{
    r->idle = 0;
}

bool restarts_allow(struct restarts *r, double now_s)
{
    double *oldest = &r->at_s[r->count % RESTARTS_WINDOW_MAX];
    bool often = r->count >= RESTARTS_WINDOW_MAX && now_s - *oldest < RESTARTS_WINDOW_S;
    if (r->idle >= RESTARTS_IDLE_MAX || often)
        return false;
    *oldest = now_s;
    r->idle++;
    r->count++;
    return true;
}
