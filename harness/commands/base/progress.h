/* progress: a line that shows the progress of a long step, only on a terminal and without --quiet. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct progress {
    FILE *out; /* NULL: the line is not shown */
    const char *what;
    double shown_at;
    bool line_open;
};

/* out: shown only if it is a terminal. what: such as "releasing"; borrowed until progress_end(). */
void progress_begin(struct progress *p, FILE *out, bool quiet, const char *what);
/* done: 0 to 1. Updates the line at most ten times a second. */
void progress_show(struct progress *p, double done);
/* Clears the line. */
void progress_end(struct progress *p);
