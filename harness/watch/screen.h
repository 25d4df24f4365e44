/* watch_screen: draws a watch_model on the whole terminal (ncurses). Only one at a time, as curses has one
 * screen. Keeps no state of the run.
 */
#ifndef KERNSWEEP_HARNESS_WATCH_SCREEN_H
#define KERNSWEEP_HARNESS_WATCH_SCREEN_H

#include "harness/watch/model.h"

enum watch_key { WATCH_KEY_NONE, WATCH_KEY_QUIT, WATCH_KEY_REDRAW };

struct watch_screen {
    void *terminal;
    bool utf8, colour;
};

/* False when this terminal cannot be drawn on. */
bool watch_screen_open(struct watch_screen *s);
void watch_screen_close(struct watch_screen *s);
/* title: what is watched; ended: why nothing more will come, or NULL. */
void watch_screen_draw(const struct watch_screen *s, const struct watch_model *m, const char *title,
                       const char *ended);
/* A key that was pressed, or a resize; does not wait. */
enum watch_key watch_screen_key(const struct watch_screen *s);

#endif
