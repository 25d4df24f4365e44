/* lane_open: a run's lanes, from the GPUs that were chosen for it and what the node says of them: what events
 * and perf.json call the GPUs, and what the tests of a lane find in their environment.
 */
#pragma once

#include "executor/suite/suite.h"

/* One lane per set; every set is of GPUs of the node's facts (s->node). choose: the tests of a lane see its
 * GPUs only, by their environment; without it they see what the plan's environment lets them see. */
void lanes_open(struct lanes *l, struct suite *s, const struct gpu_use *sets, size_t count, bool choose);
