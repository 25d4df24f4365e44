/* watch_screen: draws a watch_model on the whole terminal, with ncurses. Only one may be open at a time, as
 * curses has one screen. Its only state is which part of the matrix is in view; it follows the running cell
 * until the user scrolls.
 */
#pragma once

#include "harness/watch/lanes.h"

enum watch_key { WATCH_KEY_NONE, WATCH_KEY_QUIT, WATCH_KEY_REDRAW, WATCH_KEY_NEXT };

struct watch_screen {
    void *terminal;
    bool utf8, colour;
    bool scrolled;        /* the user has scrolled the matrix */
    size_t row, column;   /* the first variant and context in view */
    size_t rows, columns; /* number of those in view */
    struct watch_lanes_view gpus;
    size_t back;  /* number of log lines below those in view */
    bool several; /* Tab shows the next of several runs */
};

/* Returns false if this terminal is not supported. */
bool watch_screen_open(struct watch_screen *s);
void watch_screen_close(struct watch_screen *s);
/* title: the name of the run. ended: why there will be no more events, or NULL. */
void watch_screen_draw(struct watch_screen *s, const struct watch_model *m, const char *title,
                       const char *ended);
/* The next key press or resize, if any; does not wait. Arrows and pages scroll the matrix, j and k the log,
 * brackets the GPUs; Home returns to the running test and the end of the log. */
enum watch_key watch_screen_key(struct watch_screen *s);
