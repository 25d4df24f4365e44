/* watch_lanes: the rows of the screen that show what each GPU, or each set of GPUs that one test uses, is
 * doing.
 */
#pragma once

#include "harness/watch/model.h"

struct watch_lanes_view {
    size_t first, shown; /* index of the first row in view, and the number of rows in view */
    bool colour, utf8;
};

/* Draws from this row on, on at most half of the screen. Returns the next free row. */
int watch_lanes_draw(struct watch_lanes_view *v, const struct watch_model *m, int row);
