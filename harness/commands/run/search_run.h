/* search_run: `kernsweep run --search`: makes rounds of runs, each with more repetitions of fewer points,
 * until the best point is known or the rounds are used up. The runs have the purpose "search".
 * results/judge/search/halving.h decides what is measured again.
 */
#pragma once

#include "harness/commands/base/cmd.h"

/* plan: its file. opt: includes the overrides of the command line. Returns an exit code, or -1 with err. */
int search_run(struct cmd_env *env, const char *plan, const struct session_options *opt, struct err *err);
