/* run_clocks: sets the clocks of a run's GPUs as its plan asks, before anything is built or measured;
 * compares them with what the GPUs do under load; and puts them back however the run ends. Clocks that a dead
 * executor left on those GPUs are put back first, whatever this run's plan says.
 */
#pragma once

#include "executor/suite/node_lock.h"

/* Needs the node's locks. Returns 1 go on, 0 blocked (reason: char[REASON_MAX]), -1 error. */
int run_clocks_take(struct suite *s, const struct node_lock *lock, char *reason, struct err *err);
/* To be called after each test. Returns 1 when no other may run, 0 when another may, -1 error. */
int run_clocks_contradicted(struct suite *s, struct err *err);
/* Puts the clocks back. rc: what the run came to (1, 0, -1), which is returned unless the clocks were not
 * those asked for and the plan blocks on that: then 0, with reason. */
int run_clocks_end(struct suite *s, int rc, char *reason, struct err *err);
/* Puts back the clocks of a run whose executor died and that is closed without another. */
int run_clocks_recover(struct suite *s, struct err *err);

/* Returns the clocks for summary.json, or NULL when the plan leaves them as they are. */
json_t *run_clocks_encode(const struct suite *s);
