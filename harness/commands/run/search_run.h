/* search_run: `kernsweep run --search`: rounds of runs, each with more repetitions of fewer points, until it
 * is known which is best or the rounds are spent. The runs have the purpose "search". results/judge/halving
 * decides what is measured again.
 */
#pragma once

#include "harness/commands/base/cmd.h"

/* plan: its file; opt: with the overrides of the command line. Returns an exit code, or -1 with err. */
int search_run(struct cmd_env *env, const char *plan, const struct session_options *opt, struct err *err);
