/* several: one command on several nodes at once: a child process per node does what the command does on one,
 * and this process shows what they say (node_rows.h), passes an interruption on, and gathers how each of them
 * ended.
 *
 * Processes, because a session blocks on its connection; a child that dies, or a node that is unreachable,
 * leaves the others alone. After an interruption all are told to end, and killed if they have not within a
 * second. A child is told to stop when its parent dies; like any session, it leaves its run
 * going on. No connection, store or lock may be open when several_run() is called.
 */
#pragma once

#include "harness/session/relay.h"

/* Runs in the child of labels[index]: returns an exit code, after relay_fail() if there is a reason. What it
 * prints to stderr is shown as lines of its node; stdout is closed. */
typedef int several_fn(void *arg, size_t index, struct relay *r);

struct several {
    const char *const *labels; /* the nodes */
    size_t count;
    several_fn *fn;
    void *arg;
    FILE *progress;
    const volatile sig_atomic_t *interrupted;
};

struct several_end {
    int code;                  /* of the child */
    char failure[ERR_MSG_MAX]; /* why, as the child said; "" */
    json_t *result;            /* what it sent as RELAY_RESULT, or NULL; the caller json_decref()s */
};

/* ends: an element per label. ERR_INTERNAL if nothing could be started. */
int several_run(const struct several *s, struct several_end *ends, struct err *err);

/* The worse of two exit codes: done, a test failed, blocked, a regression, bad input, a local error,
 * interrupted. */
int several_worst(int a, int b);
