/* ending: how a supervised process ended, and the status and one-line reason that follow from that alone.
 * What the process printed is judged elsewhere (suite/assess). Pure: knows nothing of descriptors or clocks.
 */
#pragma once

#include "common/contract/proto.h"

#include <stdarg.h>

enum { REASON_MAX = 512, PROGRAM_SHOWN = 200 };

/* Why the executor itself ended the process. */
enum stop_cause { STOP_NONE, STOP_TIMEOUT, STOP_HANG, STOP_NO_OUTPUT, STOP_CANCEL };

struct ending {
    int exec_errno; /* not 0: the program could not be started */
    int exit_code;  /* -1 when it died by a signal */
    int signal;     /* 0 when it exited */
    enum stop_cause stop;
    double timeout_s; /* the limits, for the message */
    double no_output_timeout_s;
    double hang_after_s;
    const char *program;      /* argv[0], for the message */
    const char *oom_evidence; /* NULL when there is none */
};

/* The status of a test, build command or gate, and why. */
struct assessment {
    enum status status;
    char reason[REASON_MAX]; /* one line of printable ASCII, "" for OK */
};

struct assessment assess(enum status status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns STATUS_OK for exit code 0, else what went wrong. */
struct assessment assess_ending(const struct ending *e);

/* Formats one line of printable ASCII (other bytes become '?'), truncated to fit. out: char[REASON_MAX]. */
void reason_set(char *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void reason_vset(char *out, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
