/* precise: leaves out tests that are not needed. A plan may ask for repetitions until the interval of a
 * cell's median is narrow enough; the job then lists the most that there may be, and those left over are not
 * run.
 *
 * They leave no artifact and no event: whoever takes over the run comes to the same answer from the results
 * that are there. summary.json lists them.
 */
#pragma once

#include "executor/suite/suite.h"

/* Keeps what the cell of a test is judged by, once the suite has its times. kernel_ms: what the workload
 * printed; NaN: nothing. */
void precise_take(struct suite *s, size_t test, double kernel_ms);
/* To be called before a test on that lane. Leaves the test out, and returns true, if its cell needs no more
 * repetitions on the lane's GPUs. */
bool precise_leaves_out(struct suite *s, const struct lane *lane, size_t test);
