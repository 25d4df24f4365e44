/* b3_89_events: reads the log of a B3.89 executor for start and end of the run, and for tests that left no
 * artifact because they were stopped, skipped or crashed.
 *
 * Events are lines that contain a JSON object with an "event"; everything else in the log is skipped, and
 * events with invalid fields are counted in `odd`. An artifact takes precedence over an event. The owner
 * calls b3_events_release().
 */
#ifndef KERNSWEEP_RESULTS_INGEST_B3_89_EVENTS_H
#define KERNSWEEP_RESULTS_INGEST_B3_89_EVENTS_H

#include "results/ingest/draft.h"

/* A test as reported by TEST_END or TEST_SKIP. */
struct b3_event {
    char variant[RUN_NAME_MAX];
    int context;
    int repetition;
    enum status status;
    double value[METRIC_COUNT]; /* NaN when not reported */
    char reason[RUN_REASON_MAX];
};

struct b3_events {
    struct b3_event *items;
    size_t count;
    size_t cap;
    int odd;
    int64_t started; /* milliseconds; WHEN_UNKNOWN */
    int64_t ended;
    bool begun;  /* SUITE_START was seen */
    bool closed; /* SUITE_END was seen */
};

void b3_events_init(struct b3_events *e);
void b3_events_release(struct b3_events *e);

/* Whether the file may be the executor's log, rather than one of a test. */
bool b3_events_may_be_in(const char *rel);
int b3_events_read(struct b3_events *e, const char *path, struct err *err);

/* After all artifacts were read. A run that began and did not end is PARTIAL. */
int b3_events_apply(const struct b3_events *e, struct draft *d, struct err *err);

#endif
