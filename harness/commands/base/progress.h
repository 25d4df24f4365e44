/* progress: a line on a terminal that shows how far a long step has come. It is shown nowhere else, nor with
 * --quiet. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct progress {
    FILE *out; /* NULL: the line is not shown */
    const char *what;
    double shown_at;
    bool line_open;
};

/* out: the line is only shown if this is a terminal. what: the step, such as "releasing"; borrowed until
 * progress_end(). */
void progress_begin(struct progress *p, FILE *out, bool quiet, const char *what);
/* done: 0 to 1. Updates the line at most ten times a second. */
void progress_show(struct progress *p, double done);
/* Clears the line. */
void progress_end(struct progress *p);
