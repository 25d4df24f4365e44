/* confirm_run: the step of `run --confirm` and `nightly` between comparing and reporting: measures the
 * suspects of a finished run's comparison again (session/turns.h), judges the new runs, corrects the
 * comparison and stores the result. Suspects that remain undecided are measured in another round, up to the
 * plan's confirm.rounds.
 */
#pragma once

#include "harness/commands/base/finish.h"

/* Does nothing without suspects, or if this pair of runs has been confirmed before. p: the run's plan. opt:
 * the options of that run. If the node is unavailable, the comparison keeps the result of the last complete
 * round, and a message says why; any other failure is kept in f->failure, which finish_report() reports at
 * its end. */
void confirm_run(struct finish *f, const struct plan *p, const struct session_options *opt);
