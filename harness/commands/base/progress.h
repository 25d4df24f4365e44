/* progress: one line on a terminal that says how far a long step is. Nothing is written anywhere else, nor
 * with
 * --quiet. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct progress {
    FILE *out; /* NULL: nobody looks */
    const char *what;
    double shown_at;
    bool line_open;
};

/* out: a terminal, or the line is not shown. what: "releasing"; must live as long as the line. */
void progress_begin(struct progress *p, FILE *out, bool quiet, const char *what);
/* done: 0 to 1. Written at most ten times a second. */
void progress_show(struct progress *p, double done);
/* Clears the line. */
void progress_end(struct progress *p);
