/* loop: the supervisor's event loop: an epoll descriptor, a signalfd and a few timers, opened once and used
 * for every process. Nothing in the executor sleeps. SIGTERM and SIGINT set `stop`, which stays set. Knows
 * nothing of what is supervised. Times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef KERNSWEEP_EXECUTOR_PROCESS_LOOP_H
#define KERNSWEEP_EXECUTOR_PROCESS_LOOP_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum loop_source {
    LOOP_SIGNAL, /* SIGCHLD, or a request to stop */
    LOOP_DEADLINE,
    LOOP_GRACE,
    LOOP_HEARTBEAT,
    LOOP_SAMPLE,
    LOOP_TIMERS_END,
    LOOP_PROCESS = LOOP_TIMERS_END, /* a pidfd */
    LOOP_OUTPUT,                    /* a pipe */
    LOOP_SOURCES
};

struct loop {
    int epfd;
    int fd[LOOP_SOURCES]; /* -1 when not watched; signal and timers belong to the loop, the rest to the caller
                           */
    bool stop;
};

/* What one loop_wait() saw. */
struct loop_events {
    bool ready[LOOP_SOURCES];
    uint64_t ticks[LOOP_SOURCES]; /* expirations, of a timer that is ready */
    int64_t now_ns;               /* taken right after the wait */
};

/* Blocks the signals for this process. */
int loop_open(struct loop *loop, struct err *err);
void loop_close(struct loop *loop);
int loop_watch(struct loop *loop, enum loop_source source, int fd, struct err *err);
void loop_unwatch(struct loop *loop, enum loop_source source);
/* first_ns: absolute, 0 disarms; interval_ns 0: once. */
void loop_arm(struct loop *loop, enum loop_source timer, int64_t first_ns, int64_t interval_ns);
/* Blocks until something is ready. */
int loop_wait(struct loop *loop, struct loop_events *events, struct err *err);

#endif
