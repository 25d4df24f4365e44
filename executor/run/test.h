/* test: one test, from its folder to its perf.json: a fresh process that is timed, sampled, assessed and
 * cleaned up after. What makes the node unfit for further tests is left in suite->dirty.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_TEST_H
#define KERNSWEEP_EXECUTOR_RUN_TEST_H

#include "executor/run/suite.h"

/* -1 only for faults of our own. When the supervisor was told to stop but the run is not cancelled, the test
 * gets no artifact, so that it is repeated. */
int test_run(struct suite *s, size_t test, struct err *err);
/* The artifact and the event of a test that will not run. */
int test_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err);

#endif
