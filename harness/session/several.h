/* several: runs one command on several nodes at once. A child process per node does what the command does
 * on one node; this process shows their output (node_rows.h), forwards an interruption, and collects their
 * results.
 *
 * These are processes because a session blocks on its connection; a child that dies or an unreachable node
 * does not affect the others. After an interruption, children that do not end within a second are killed.
 * A child is told to stop when its parent dies; like any session, it leaves its run going on. No
 * connection, store or lock may be open when several_run() is called.
 */
#pragma once

#include "harness/session/relay.h"

/* Runs in the child of labels[index]. Returns an exit code, after relay_fail() if there is a reason. Its
 * stderr is shown as lines of its node; stdout is closed. */
typedef int several_fn(void *arg, size_t index, struct relay *r);

struct several {
    const char *const *labels; /* names of the nodes */
    size_t count;
    several_fn *fn;
    void *arg;
    FILE *progress;
    const volatile sig_atomic_t *interrupted;
};

struct several_end {
    int code;                  /* of the child */
    char failure[ERR_MSG_MAX]; /* the reason that the child gave, or "" */
    json_t *result;            /* what it sent as RELAY_RESULT, or NULL; the caller json_decref()s */
};

/* ends: one element per label. ERR_INTERNAL if nothing could be started. */
int several_run(const struct several *s, struct several_end *ends, struct err *err);

/* The worse of two exit codes, in this order: done, a test failed, blocked, a regression, bad input, a
 * local error, interrupted. */
int several_worst(int a, int b);
