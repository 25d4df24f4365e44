/* test_group: the control group of a test or of a step of a build or gate, within the run's (see contain),
 * and what the plan's limits did to a test.
 */
#pragma once

#include "executor/process/contain_group.h"
#include "executor/suite/suite.h"

/* Opens s->processes.contain as the node allows. Returns 1, 0 with reason if the node cannot isolate tests or
 * enforce limits that the plan asks for, or -1. */
int test_group_begin_run(struct suite *s, char *reason, struct err *err);

/* Opens the group of a test, with the plan's limits. To be closed by contain_group_close(). */
int test_group_open(struct contain_group *g, struct suite *s, size_t test, struct err *err);
/* Opens the group of a step, without limits. */
int test_group_open_step(struct contain_group *g, struct suite *s, struct err *err);

/* Whether the plan asks to isolate the test. A container isolates in its own way. */
bool test_group_isolates(const struct suite *s, size_t test);

/* Says in *a which limit a test that is not OK has hit. */
void test_group_judge(const struct suite *s, const struct contain_hits *hits, struct assessment *a);

/* Encodes the group and its limits for perf.json. */
json_t *test_group_encode(const struct suite *s, bool grouped, const struct contain_hits *hits);
