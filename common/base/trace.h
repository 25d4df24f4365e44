/* trace: a log of commands on nodes and of local programs: what ran, how long it took, how it ended.
 *
 * Writes JSON lines to a file (KERNSWEEP_TRACE) and readable lines to stderr (--verbose); both are off until
 * main() or the command line enables them. This is global state, like stderr itself, so that it need not be
 * passed through every layer. Each line is one write(), so threads and processes may share a file. Callers
 * never pass standard input, environments or confidential arguments.
 */
#pragma once

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_event {
    const char *kind;        /* "connect", "exec", "program" */
    const char *where;       /* "user@host:port"; NULL for this machine */
    const char *how;         /* the back-end of a connection, or NULL */
    const char *const *argv; /* or NULL */
    bool name_only;          /* log only argv[0], as the rest may be confidential */
    double started_real_s;
    int64_t started_mono_ns;
    const struct err *failure; /* why the operation failed; NULL: it ended as follows */
    const char *signal;        /* that killed it, or NULL */
    int exit_code;
    uint64_t sent, received; /* bytes */
};

/* Starts tracing to a file, which is created with mode 0600. */
int trace_open(const char *file, struct err *err);
/* Starts tracing to stderr. */
void trace_verbose(void);

struct trace_event trace_begin(const char *kind, const char *where, const char *const *argv);
/* Writes the line. */
void trace_end(const struct trace_event *e);
