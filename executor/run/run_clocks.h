/* run_clocks: the clocks of a run's GPUs, as its plan asks: set before anything is built or measured,
 * compared with what the GPUs do under load, put back at the end of the run however it ends. What an executor
 * that died left on those GPUs is put back first, whatever this run's plan says.
 */
#pragma once

#include "executor/suite/node_lock.h"

/* Under the locks. 1 go on, 0 blocked (reason: char[REASON_MAX]), -1 error. */
int run_clocks_take(struct suite *s, const struct node_lock *lock, char *reason, struct err *err);
/* After a test. 1 when no other may run, 0 when another may, -1 error. */
int run_clocks_contradicted(struct suite *s, struct err *err);
/* Puts the clocks back. rc: what the run came to (1, 0, -1), which is returned unless the clocks were not
 * those asked for: then 0, with reason. */
int run_clocks_end(struct suite *s, int rc, char *reason, struct err *err);
/* For a run whose executor died and that is closed without another. */
int run_clocks_recover(struct suite *s, struct err *err);

/* For summary.json; NULL when the plan leaves the clocks as they are. */
json_t *run_clocks_encode(const struct suite *s);
