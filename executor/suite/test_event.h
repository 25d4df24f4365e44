/* test_event: writes the journal's events of one test (start, heart beats, end, skip) from the suite's state.
 */
#pragma once

#include "executor/suite/suite.h"

int test_event_start(struct suite *s, size_t test, struct err *err);
/* Takes log_tail; NULL: nothing new was printed. A heart beat that cannot be written is dropped. */
void test_event_heartbeat(struct suite *s, size_t test, double elapsed_s, const struct sample *last,
                          json_t *log_tail);
/* retry: the test did not finish and will run again. */
int test_event_end(struct suite *s, size_t test, bool retry, struct err *err);
/* Writes another end of a test that had ended: the one before it no longer counts. */
int test_event_replace(struct suite *s, size_t test, struct err *err);
int test_event_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err);
