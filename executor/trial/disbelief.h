/* disbelief: a test that has its result, of which it turned out later that it cannot be believed: its record
 * becomes INVALID, and another TEST_END, which says that it replaces the one before it, tells so.
 */
#ifndef KERNSWEEP_EXECUTOR_TRIAL_DISBELIEF_H
#define KERNSWEEP_EXECUTOR_TRIAL_DISBELIEF_H

#include "executor/suite/suite.h"

int disbelief_of(struct suite *s, size_t test, const char *reason, struct err *err);

#endif
