/* watch_follow: the process behind a screen of `watch`: it follows a run, reconnecting if needed, and passes
 * what it says to this one (session/relay.h), so that neither drawing nor the connection has to wait for the
 * other.
 *
 * The caller owns the follower and ends it; it must not be moved once started.
 */
#pragma once

#include "harness/session/relay.h"
#include "harness/watch/screen.h"

#include <sys/types.h>

struct watch_follow {
    struct watch_model *model;
    struct watch_screen screen; /* what is in view, while this run is not the one shown */
    char title[WATCH_LINE_MAX];
    char failure[ERR_MSG_MAX]; /* why it could not be followed, or "" */
    int code;                  /* the exit code for that */
    bool ended;                /* there will be nothing more */
    pid_t pid;
    int fd;
    struct event_stream lines;
};

/* In the child: follows the run and says so to the relay. Returns an exit code. */
typedef int watch_follow_fn(void *arg, const char *word, struct relay *r);

/* word: the run; the title until it is known better. */
int watch_follow_start(struct watch_follow *f, const char *word, watch_follow_fn *fn, void *arg,
                       struct err *err);
/* Reads once, when f->fd is ready. */
int watch_follow_read(struct watch_follow *f, struct err *err);
void watch_follow_end(struct watch_follow *f);
