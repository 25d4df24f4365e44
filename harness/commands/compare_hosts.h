/* compare_hosts: `compare RUN --by node`: compares the machines that shared a run.
 *
 * Prints the result; a slow machine is a finding, not a failure. Returns the exit code, or -1 with err:
 * ERR_INPUT unless the tests of the run name at least two machines.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_COMPARE_HOSTS_H
#define KERNSWEEP_HARNESS_COMMANDS_COMPARE_HOSTS_H

#include "harness/commands/cmd.h"
#include "results/judge/compare.h"

int compare_hosts(const struct cmd_env *env, const struct run_data *run,
                  const struct compare_options *options, struct err *err);

#endif
