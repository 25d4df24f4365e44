/* dispatch: a run that is handed to a scheduler. The supervisor, on the machine where the run was submitted,
 * decides which array job is needed next, until every test is final: one that prepares a variant (build,
 * gates), then those with its tests, and again those for tests that were lost with their node. It measures
 * nothing itself and may die at any time: jobs go on without it, and the next supervisor picks them up.
 */
#pragma once

#include "executor/suite/suite.h"

/* Runs until every test is final, or the loop is told to stop; the jobs of a cancelled run are gone then.
 * Returns 1 done; 0 the scheduler refuses the jobs of this plan (reason: char[REASON_MAX] says why); -1. */
int dispatch_run(struct suite *s, char *reason, struct err *err);
/* Ends the jobs that an earlier supervisor left, and collects what they have. */
int dispatch_cancel(struct suite *s, struct err *err);
