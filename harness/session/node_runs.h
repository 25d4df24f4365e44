/* node_runs: what the executor of a connected node says of the runs that it has. A run may be known here and
 * not there: its start was cut short before it was submitted, or the node's folder is gone. Errors: as
 * remote.h.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_NODE_RUNS_H
#define KERNSWEEP_HARNESS_SESSION_NODE_RUNS_H

#include "harness/session/session.h"

/* All runs, or the one of that id. NULL on error, else the caller json_decref()s. */
json_t *node_runs(struct session *s, const char *run_id, struct err *err);
int node_runs_has(struct session *s, const char *run_id, bool *has, struct err *err);

#endif
