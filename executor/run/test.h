/* test_run: one test, from its folder to its perf.json: a fresh process that is timed, sampled, judged and
 * cleaned up after. What stops the node from being used further is left in suite->dirty.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_TEST_H
#define KERNSWEEP_EXECUTOR_RUN_TEST_H

#include "executor/run/suite.h"

/* -1 only for faults of our own. When the supervisor was told to stop but not to cancel, the test stays
 * without an artifact, so that it is run again. */
int test_run(struct suite *s, size_t test, struct err *err);
/* The artifact of a test that will not run. */
int test_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err);
/* TEST_END of a test of which an earlier supervisor left the artifact, or only the start. */
int test_end_event(struct suite *s, size_t test, bool retry, struct err *err);

#endif
