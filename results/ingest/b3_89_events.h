/* b3_89_events: what the log of a B3.89 executor adds to the artifacts: start and end of the run, and the
 * tests that left no artifact because they were stopped, skipped or crashed.
 *
 * Events are lines of the log that hold a JSON object with an "event"; everything else in the log is skipped,
 * and events with invalid fields are counted in `odd`. An artifact takes precedence over an event. The owner
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
    int odd;
    int64_t started; /* milliseconds; WHEN_UNKNOWN */
    int64_t ended;
    bool begun; /* there was a SUITE_START */
    bool closed;
};

void b3_events_init(struct b3_events *e);
void b3_events_release(struct b3_events *e);

/* Whether a file of the folder may be the executor's log: those of the tests are not. */
bool b3_events_may_be_in(const char *rel);
int b3_events_read(struct b3_events *e, const char *path, struct err *err);

/* After all artifacts were read. A run that was begun and never closed is PARTIAL. */
int b3_events_apply(const struct b3_events *e, struct draft *d, struct err *err);

#endif
