/* compare_places: `compare RUN --by node|gpu`: compares the machines or GPUs that shared a run.
 *
 * Prints the result; a slow place is a finding, not a failure. Returns the exit code, or -1 with err:
 * ERR_INPUT unless the tests of the run name at least two places.
 */
#pragma once

#include "harness/commands/base/cmd.h"
#include "results/judge/compare.h"
#include "results/judge/standings.h"

/* "node" or "gpu". */
bool place_kind_from_name(const char *name, enum place_kind *out);

/* since: the run compared with earlier nights; empty without them. */
int compare_places(const struct cmd_env *env, const struct run_data *run, enum place_kind by,
                   const struct compare_options *options, const struct comparison *since, struct err *err);
