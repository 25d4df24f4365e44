/* dispatch: a run that is handed to a scheduler. The supervisor, where the run was submitted, orders array
 * jobs, takes over what their tasks write (relay.h), and orders again what was lost with its node. It
 * measures nothing itself and may die at any time: jobs go on without it, and the next supervisor finds them
 * by their name. Journals are the truth; the queue only says what a journal cannot: that nobody will write
 * any more.
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_DISPATCH_H
#define KERNSWEEP_EXECUTOR_RUN_DISPATCH_H

#include "executor/run/suite.h"

/* Until every test is final, or the loop was told to stop; a cancelled run's jobs are gone then. 1 done; 0
 * the scheduler takes no jobs of this plan (reason: char[VERDICT_REASON_MAX] says why); -1 error. */
int dispatch_run(struct suite *s, char *reason, struct err *err);
/* Ends the jobs that an earlier supervisor left, and takes over what they have. */
int dispatch_cancel(struct suite *s, struct err *err);

#endif
