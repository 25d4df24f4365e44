/* test_event: the journal's events of one test: start, heart beats, end, skip. Writes them from the state
 * that the suite has of the test; decides nothing.
 */
#pragma once

#include "executor/suite/suite.h"

int test_event_start(struct suite *s, size_t test, struct err *err);
/* Takes log_tail; NULL: nothing new was printed. A heart beat that cannot be written is dropped. */
void test_event_heartbeat(struct suite *s, size_t test, double elapsed_s, const struct sample *last,
                          json_t *log_tail);
/* retry: the test did not finish and will run again. */
int test_event_end(struct suite *s, size_t test, bool retry, struct err *err);
/* Of a test that had ended: the end before it does not count any more. */
int test_event_replace(struct suite *s, size_t test, struct err *err);
int test_event_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err);
