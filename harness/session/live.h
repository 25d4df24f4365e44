/* live: shows a run's journal to the user: a progress line on a terminal, plain lines elsewhere. Takes
 * decoded events and writes to one stream. Knows which tests are in flight, one per lane.
 */
#pragma once

#include "harness/session/event.h"

#include <stdbool.h>
#include <stdio.h>

/* The test of a lane. */
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
    double suite_eta_s;            /* NaN: not known */
    char building[LIMIT_NAME + 1]; /* a variant, or "" */
    char ended[32];                /* the run's status, or "" */
};

enum { LIVE_LINE_MAX = 512 };

/* Detects a terminal and colours from out, NO_COLOR and TERM. */
void live_init(struct live *l, FILE *out);
void live_event(struct live *l, const struct event *e);
/* Prints a line, clearing the progress line first. */
void live_note(struct live *l, const char *text);
/* What the run is doing, in one line: counts, the test that has run longest and how many others there are,
 * ETA. out: char[LIVE_LINE_MAX]. */
void live_progress(const struct live *l, char *out);
size_t live_running(const struct live *l);
/* Clears the progress line. */
void live_end(struct live *l);

/* "8.31 ms", "42.1 s", "3 min 20 s", "1 h 05 min"; "-" when not finite. */
void live_duration(double seconds, char *out, size_t cap);
