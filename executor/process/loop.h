/* loop: the supervisor's event loop: one epoll descriptor and one signalfd for any number of watched
 * descriptors and timers, each owned by whoever needs it. A wait marks what is ready; the owners then look at
 * their own watches, in the order that they need. SIGTERM and SIGINT set `stop`, which stays set. Knows
 * nothing of what is supervised. Times are CLOCK_MONOTONIC nanoseconds.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOOP_READY_MAX = 256 };

/* Must not move while it is added; LOOP_WATCH_NONE before. */
struct loop_watch {
    int fd; /* -1: not added */
    bool is_timer;
    bool ready;     /* as of the last wait */
    uint64_t ticks; /* expirations, of a timer that is ready */
};

#define LOOP_WATCH_NONE ((struct loop_watch){.fd = -1})

struct loop {
    int epfd;
    struct loop_watch signals; /* ready: a child ended, or a request to stop */
    struct loop_watch beat;    /* a timer for all that want the same ticks: see loop_join_beat() */
    int64_t beat_ns;           /* its interval */
    size_t beat_users;
    struct loop_watch *ready[LOOP_READY_MAX];
    size_t ready_count;
    int64_t now_ns;   /* right after the last wait */
    int64_t slept_ns; /* in the last wait, without waiting for a CPU; 0 where that is unknown, or by a stop */
    int schedstat;    /* this process's, or -1 */
    bool stop;
};

/* Blocks the signals for this process. */
int loop_open(struct loop *loop, struct err *err);
void loop_close(struct loop *loop);

/* Watches a descriptor of the caller's for input. */
int loop_add(struct loop *loop, struct loop_watch *watch, int fd, struct err *err);
/* Makes a timer, which loop_remove() closes. */
int loop_add_timer(struct loop *loop, struct loop_watch *timer, struct err *err);
/* Does nothing for a watch that was never added. */
void loop_remove(struct loop *loop, struct loop_watch *watch);
/* first_ns: absolute, 0 disarms; interval_ns 0: once. */
void loop_arm(struct loop_watch *timer, int64_t first_ns, int64_t interval_ns);

/* Makes loop->beat ready at each multiple of the interval, for any number of users: one timer, and one
 * wake-up, serve them all. Returns -1 if it has another interval, or no timer can be made. */
int loop_join_beat(struct loop *loop, int64_t interval_ns);
void loop_leave_beat(struct loop *loop);

/* Blocks until something is ready. */
int loop_wait(struct loop *loop, struct err *err);
/* Blocks until the watch (NULL: none) is ready, the deadline is over, or `stop` is set. */
int loop_wait_for(struct loop *loop, const struct loop_watch *watch, int64_t deadline_ns, struct err *err);
