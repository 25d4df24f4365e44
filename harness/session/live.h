/* live: shows a run's journal to the user, with a progress line on a terminal and plain lines elsewhere.
 * Takes decoded events, writes to one stream, and tracks the running test of each lane.
 */
#pragma once

#include "harness/session/event.h"

#include <stdbool.h>
#include <stdio.h>

/* The test that a lane runs. */
struct live_test {
    bool running;
    char variant[LIMIT_NAME + 1];
    int64_t ctx, run_idx;
    double elapsed_s, timeout_s;
};

struct live {
    FILE *out;
    bool progress; /* a terminal: redraw one line */
    bool colour;
    bool line_open; /* an unterminated progress line is shown */
    int64_t done, total;
    int64_t ok, failed, skipped;
    int64_t builds_failed, gates_failed;
    struct live_test tests[EVENT_LANES_MAX];
    double suite_eta_s;            /* NaN: unknown */
    char building[LIMIT_NAME + 1]; /* a variant, or "" */
    char ended[32];                /* the run's status, or "" */
};

enum { LIVE_LINE_MAX = 512 };

/* Detects a terminal and colours from out, NO_COLOR and TERM. */
void live_init(struct live *l, FILE *out);
void live_event(struct live *l, const struct event *e);
/* Prints a line, clearing the progress line first. */
void live_note(struct live *l, const char *text);
/* Describes what the run is doing in one line: counts, the longest-running test, the number of other
 * running tests, and the ETA. out: char[LIVE_LINE_MAX]. */
void live_progress(const struct live *l, char *out);
size_t live_running(const struct live *l);
/* Clears the progress line. */
void live_end(struct live *l);

/* "8.31 ms", "42.1 s", "3 min 20 s", "1 h 05 min"; "-" when not finite. */
void live_duration(double seconds, char *out, size_t cap);
