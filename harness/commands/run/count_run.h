/* count_run: once a regression has been confirmed, has a profiler on the node count the plan's "counters" in
 * both builds. */
#pragma once

#include "harness/commands/base/finish.h"

/* Called after confirm_run(). If it fails, a note says so, and the comparison has no counters. */
void count_run(struct finish *f, const struct plan *p, const struct session_options *opt);
