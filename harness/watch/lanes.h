/* watch_lanes: the rows of a screen that show what each GPU, or each set of GPUs that one test has, is doing.
 */
#ifndef KERNSWEEP_HARNESS_WATCH_LANES_H
#define KERNSWEEP_HARNESS_WATCH_LANES_H

#include "harness/watch/screen.h"

/* From the row on, at most half of the screen; s->lane is the first in view. Returns the next free row. */
int watch_lanes_draw(struct watch_screen *s, const struct watch_model *m, int row);

#endif
