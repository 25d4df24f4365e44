/* bisect_run: one process at a time works on a search, and writes its report when it has an answer. For
 * `bisect` and `nightly`.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_MEASURE_BISECT_RUN_H
#define KERNSWEEP_HARNESS_COMMANDS_MEASURE_BISECT_RUN_H

#include "harness/session/bisect_steps.h"

/* bisect_run() under a lock, and the report. Waits for another process that works on the search, and then
 * takes over what it left. ERR_INTERRUPTED while waiting. */
int bisect_run_locked(struct bisect_state *b, struct store *s, const struct bisect_settings *o,
                      struct err *err);

#endif
