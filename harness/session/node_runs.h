/* node_runs: the runs that the executor on a connected node knows. A run with a local record may be missing
 * there: its start was interrupted before submission, or its folder was deleted. Errors: as in remote.h.
 */
#pragma once

#include "harness/session/session.h"

/* The run run_id, or all runs for NULL. NULL on error; the caller json_decref()s. */
json_t *node_runs(struct session *s, const char *run_id, struct err *err);
int node_runs_has(struct session *s, const char *run_id, bool *has, struct err *err);
