/* watch_lanes: the rows of a screen that show what each GPU, or each set of GPUs that one test has, is doing.
 */
#pragma once

#include "harness/watch/model.h"

struct watch_lanes_view {
    size_t first, shown; /* the first in view, and how many are */
    bool colour, utf8;
};

/* From the row on, at most half of the screen. Returns the next free row. */
int watch_lanes_draw(struct watch_lanes_view *v, const struct watch_model *m, int row);
