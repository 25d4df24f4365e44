/* events: reads the logs of a B3.89 executor: start and end of the run, the outcome of each test, and which
 * variants failed to build or to pass their gate.
 *
 * Events are lines that contain a JSON object with an "event"; of the other lines, "BUILD FAILED for V" and
 * "GATE FAILED for V" count. That executor wrote every value that is not a plain decimal as text ("NA",
 * "2.6e-07", ".51"). Events with invalid fields are counted in `odd`. The owner calls b3_events_release().
 */
#pragma once

#include "results/ingest/draft/draft.h"

/* What is known of a test, in the order in which a log tells it. */
enum b3_stage { B3_PLANNED, B3_STARTED, B3_SKIPPED, B3_ENDED };

/* One event of a test. */
struct b3_event {
    char variant[RUN_NAME_MAX];
    int context;
    int repetition;
    size_t sequence; /* its number among all events */
    enum b3_stage stage;
    enum status status;
    int exit_code;    /* RUN_UNKNOWN */
    int signal;       /* RUN_UNKNOWN */
    double timeout_s; /* NaN when not reported, as values */
    double value[METRIC_BUILT_IN];
    char attn_impl[RUN_NAME_MAX];
    char started_at[CLOCK_ISO_LEN + 1];
    char reason[RUN_REASON_MAX];
};

/* A variant that was not run. */
struct b3_fault {
    char variant[RUN_NAME_MAX];
    enum status status; /* BUILD_FAILED, GATE_FAILED; OK once a later test of it ran */
};

struct b3_events {
    struct b3_event *items;
    size_t count;
    size_t cap;
    struct b3_fault *faults;
    size_t n_faults;
    size_t cap_faults;
    int odd;
    int total;       /* tests that the log counts; 0 when it does not */
    char mode[16];   /* "" when not reported */
    int64_t started; /* milliseconds; WHEN_UNKNOWN */
    int64_t ended;
    bool begun;  /* SUITE_START was seen */
    bool closed; /* SUITE_END was seen after it */
};

void b3_events_init(struct b3_events *e);
void b3_events_release(struct b3_events *e);

/* Whether the file may be the executor's log, rather than one of a test or of a gate. */
bool b3_events_may_be_in(const char *rel);
int b3_events_read(struct b3_events *e, const char *path, struct err *err);

/* Called after all artifacts were read, which take precedence: completes their tests (exit code, signal), and
 * adds those without one. A run that began and did not end, or in which a test has no end, is PARTIAL.
 * Reorders the events. (apply.c) */
int b3_events_apply(struct b3_events *e, struct draft *d, struct err *err);
