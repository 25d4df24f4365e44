/* relay: takes over what an attempt's journal tells: its events go into the run's own journal, each once,
 * with the attempt they came from, and what is final is adopted before its event is told. So the run has one
 * journal with one writer, whatever number of nodes works for it.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_RELAY_H
#define KERNSWEEP_EXECUTOR_RUN_RELAY_H

#include "executor/run/order.h"

/* Reads on in the journal of the task's newest attempt. Sets task->closed once all of it was taken over.
 * *news: something was. */
int relay_task(struct suite *s, struct order *o, size_t index, bool *news, struct err *err);

/* TEST_END of the tests that the attempt began and did not end; they may run again. */
int relay_interrupted(struct suite *s, const struct order *o, size_t index, const char *reason,
                      struct err *err);

#endif
