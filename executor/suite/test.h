/* test: takes one test from its folder to its perf.json: a fresh process that is timed, sampled, assessed and
 * cleaned up after. It is begun on a lane, then given a turn after every wait of the loop, so that lanes have
 * tests at the same time. What makes its lane's GPUs unfit for further tests is left in lane->dirty.
 */
#pragma once

#include "executor/suite/lane.h"
#include "executor/suite/suite.h"

/* The caller frees *out. Returns -1 only for faults of our own. */
int test_begin(struct suite *s, struct lane *lane, size_t test, struct test_run **out, struct err *err);
/* To be called after each loop_wait(). Returns 1 over, 0 not yet, -1 a fault of our own. When the supervisor
 * was told to stop but the run is not cancelled, the test gets no artifact, so that it is repeated. */
int test_turn(struct test_run *r, struct err *err);
/* Whether it has begun, but uses no memory of its GPUs yet. False where memory is not known, for a variant
 * whose earlier tests used none, and once a start of CUDA or HIP should be over. r may be NULL. */
bool test_starts(const struct test_run *r);
/* Kills what still runs. r may be NULL. */
void test_free(struct test_run *r);

/* Appends the test's own command to argv, and its environment on that lane to env. out: the folder of its
 * results. */
int test_command(const struct suite *s, size_t test, const struct lane *lane, const char *out,
                 struct strvec *argv, struct strvec *env, struct err *err);
/* Returns true, and sets why, for a test that must not be tried again. */
bool test_is_out_of_attempts(const struct suite *s, size_t test, struct assessment *why);
/* Writes the artifact and the event of a test that will not run. */
int test_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err);
/* Makes the record of a test INVALID when it turns out that its result cannot be believed. Another TEST_END
 * says that it replaces the one before it. */
int test_disbelieve(struct suite *s, size_t test, const char *reason, struct err *err);
