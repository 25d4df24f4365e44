/* confirm_run: the step of `run --confirm` and `nightly` between comparing and reporting: has the suspects of
 * a finished run's comparison measured again (session/confirm.h), judges the runs that come back, corrects
 * the comparison and stores what came of it.
 */
#ifndef KERNSWEEP_HARNESS_COMMANDS_CONFIRM_RUN_H
#define KERNSWEEP_HARNESS_COMMANDS_CONFIRM_RUN_H

#include "harness/commands/finish.h"

/* Does nothing without suspects, or when these two runs were confirmed before. plan: the file that the run
 * was made from. opt: of that run. A node that is gone leaves the comparison as it is, with a line on stderr;
 * any other failure is kept in `f`, which reports it at its end. */
void confirm_run(struct finish *f, const char *plan, const struct session_options *opt);

#endif
