/* placement: where the tests of a run are carried out, as a table of functions: on this node by the
 * supervisor itself, as one task of a scheduler's job, or by handing them to a scheduler. supervise treats
 * all three alike.
 */
#pragma once

#include "executor/suite/node_lock.h"

struct placement {
    bool outlives_supervisor; /* a test in flight is not lost when the supervisor dies */
    /* Runs until every test is final, or the loop is told to stop. Returns 1 done or stopped, 0 blocked
     * (reason: char[REASON_MAX] says why), -1 error. lock: initialised; the caller closes it. */
    int (*run)(struct suite *s, struct node_lock *lock, char *reason, struct err *err);
    /* Ends, for a cancelled run, what an earlier supervisor left. */
    int (*cancel)(struct suite *s, struct err *err);
};

const struct placement *placement_of(const struct job *job);
