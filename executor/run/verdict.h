/* verdict: the status of a finished test, from how its process ended and from what it said. A pure function.
 * Knows nothing of processes, files or clocks.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_VERDICT_H
#define KERNSWEEP_EXECUTOR_RUN_VERDICT_H

#include "common/contract/proto.h"
#include "executor/run/timings.h"

#include <stdbool.h>
#include <stdint.h>

enum { VERDICT_REASON_MAX = 512, VERDICT_EXIT_SKIP = 77 };

/* Why the executor itself ended the process. */
enum stop_cause { STOP_NONE, STOP_TIMEOUT, STOP_HANG, STOP_NO_OUTPUT, STOP_CANCEL };

struct outcome {
    int exec_errno; /* not 0: the program could not be started */
    int exit_code;  /* -1 when it died by a signal */
    int signal;     /* 0 when it exited */
    enum stop_cause stop;
    double timeout_s;           /* the test's */
    double no_output_timeout_s; /* the job's */
    double hang_after_s;        /* the job's */
    const char *program;        /* argv[0], for the message */
    const char *oom_evidence;   /* NULL when there is none */
};

struct expectation {
    int64_t context;
    const char *attn_impl; /* "" is not checked */
    bool prompt_tokens_required;
};

struct verdict {
    enum status status;
    char reason[VERDICT_REASON_MAX]; /* one line of ASCII, "" for OK */
};

/* Writes one line of plain ASCII (other bytes become '?'), cut to fit: a reason may stand anywhere. */
void reason_set(char *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct verdict verdict_of(const struct outcome *o, const struct timings *t, const struct expectation *e);
/* How a build or gate ended: STATUS_OK, or the status of a test that ends so (no timings are asked for). */
struct verdict verdict_of_command(const struct outcome *o);

#endif
