/* lane_plan: the queue of a run's lanes, made from its job: which tests must share a lane, where they ran
 * before, and how long they are expected to take.
 */
#pragma once

#include "executor/run/lane_queue.h"
#include "executor/suite/suite.h"

/* Needs s->lanes. */
void lane_plan(struct lane_queue *q, const struct suite *s);
