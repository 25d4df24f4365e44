/* live: shows a run's journal to the user: a progress line on a terminal, plain lines elsewhere. Takes
 * decoded events and writes to one stream.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_LIVE_H
#define KERNSWEEP_HARNESS_SESSION_LIVE_H

#include "harness/session/event.h"

#include <stdbool.h>
#include <stdio.h>

struct live {
    FILE *out;
    bool progress; /* a terminal: redraw one line */
    bool colour;
    bool line_open; /* an unterminated progress line is shown */
    int64_t done, total;
    int64_t ok, failed, skipped;
};

/* Detects a terminal and colours from out, NO_COLOR and TERM. */
void live_init(struct live *l, FILE *out);
void live_event(struct live *l, const struct event *e);
/* Prints a line, clearing the progress line first. */
void live_note(struct live *l, const char *text);
/* Clears the progress line. */
void live_end(struct live *l);

/* "8.31 ms", "42.1 s", "3 min 20 s", "1 h 05 min"; "-" when not finite. */
void live_duration(double seconds, char *out, size_t cap);

#endif
