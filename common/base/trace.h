/* trace: what this process asked of nodes and of other programs, how long it took and how it ended.
 *
 * JSON lines appended to a file (KERNSWEEP_TRACE), and lines for people on stderr (--verbose); both are off
 * until main() or the command line turns them on. State of the process, as stderr is: so that what is traced
 * need not be passed through every layer. Each line is one write(), so threads and processes may share a
 * file. Callers never hand over standard input, environments, or words that may be confidential.
 */
#ifndef KERNSWEEP_COMMON_BASE_TRACE_H
#define KERNSWEEP_COMMON_BASE_TRACE_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct trace_event {
    const char *kind;        /* "connect", "exec", "program" */
    const char *where;       /* "user@host:port", or NULL for this machine */
    const char *how;         /* the back-end of a connection, or NULL */
    const char *const *argv; /* or NULL */
    bool name_only;          /* of argv the first word alone, as the others may be confidential */
    double started_real_s;
    int64_t started_mono_ns;
    const struct err *failure; /* it could not be done, and why; NULL: it ended as follows */
    const char *signal;        /* what killed it, or NULL */
    int exit_code;
    uint64_t sent, received; /* bytes */
};

/* Appends to the file (made 0600) from now on. */
int trace_open(const char *file, struct err *err);
/* Lines on stderr from now on. */
void trace_verbose(void);

/* An event that starts now. */
struct trace_event trace_begin(const char *kind, const char *where, const char *const *argv);
/* It ended now: writes its line. */
void trace_end(const struct trace_event *e);

#endif
