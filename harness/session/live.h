/* live: the journal as a person follows it: one progress line on a terminal, plain lines elsewhere, nothing
 * when quiet. Takes decoded events, writes to one stream. Keeps only what the line shows.
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
    bool line_open; /* a progress line stands unfinished */
    int64_t done, total;
    int64_t ok, failed, skipped;
};

/* Decides on terminal and colour from out, NO_COLOR and TERM. */
void live_init(struct live *l, FILE *out);
void live_event(struct live *l, const struct event *e);
/* Prints one line of its own, leaving the progress line whole. */
void live_note(struct live *l, const char *text);
/* Ends a progress line that stands. */
void live_end(struct live *l);

/* "8.31 ms", "42.1 s", "3 min 20 s", "1 h 05 min"; "-" when not finite. */
void live_duration(double seconds, char *out, size_t cap);

#endif
