/* precise: tests that are not needed. A plan may ask for repetitions until the interval of a cell's median is
 * narrow enough; the job then lists the most that there may be, and those left when it is are not run.
 *
 * They leave no artifact and no event: whoever takes over the run comes to the same answer from the results
 * that are there. summary.json lists them.
 */
#pragma once

#include "executor/suite/suite.h"

/* After a test whose times the suite has: keeps what its cell is judged by. kernel_ms: what the workload
 * printed; NaN: nothing. */
void precise_take(struct suite *s, size_t test, double kernel_ms);
/* Before a test on that lane: true, with the test left out, if what its cell was measured at on the lane's
 * GPUs needs no more of them. */
bool precise_leaves_out(struct suite *s, const struct lane *lane, size_t test);
