/* run_lanes: the lanes of a run, made from the GPUs that were chosen for it, the queue of its tests, and the
 * one loop that carries them out, as many at once as there are lanes. A lane that can run no more tests is
 * taken out: what it has left moves to the others.
 */
#pragma once

#include "executor/run/lane_queue.h"
#include "executor/suite/suite.h"

/* Opens one lane per set of GPUs of the node's facts (s->node), which also say what events and perf.json call
 * them. choose: the tests of a lane see its GPUs only, by their environment; without it they see what the
 * plan's environment lets them see. */
void lanes_open(struct lanes *l, struct suite *s, const struct gpu_use *sets, size_t count, bool choose);
/* Makes the queue of a run's lanes from its job: which tests must share a lane, where they ran before, and
 * how long they are expected to take. Needs s->lanes. */
void lane_plan(struct lane_queue *q, const struct suite *s);
/* Runs until every test is final, or the loop is told to stop. Needs s->lanes. */
int run_lanes(struct suite *s, struct err *err);
