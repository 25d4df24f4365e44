/* watch_follow: a child process of `watch` that follows a run, reconnecting if needed, and passes its output
 * to this process (session/relay.h), so that neither drawing nor the connection has to wait for the other.
 *
 * The caller owns the follower and ends it; it must not be moved once started.
 */
#pragma once

#include "harness/session/relay.h"
#include "harness/watch/screen.h"

#include <sys/types.h>

struct watch_follow {
    struct watch_model *model;
    struct watch_screen screen; /* the view of this run while another one is shown */
    char title[WATCH_LINE_MAX];
    char failure[ERR_MSG_MAX]; /* why the run could not be followed, or "" */
    int code;                  /* exit code for the failure */
    bool ended;                /* there is nothing more to read */
    pid_t pid;
    int fd;
    struct event_stream lines;
};

/* Runs in the child: follows the run and sends everything to the relay. Returns an exit code. */
typedef int watch_follow_fn(void *arg, const char *word, struct relay *r);

/* word: the run, which is also the title until a better one is known. */
int watch_follow_start(struct watch_follow *f, const char *word, watch_follow_fn *fn, void *arg,
                       struct err *err);
/* Reads once, when f->fd is ready. */
int watch_follow_read(struct watch_follow *f, struct err *err);
void watch_follow_end(struct watch_follow *f);
