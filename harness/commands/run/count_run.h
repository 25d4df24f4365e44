/* count_run: has a profiler count on the node what the plan's "counters" name, in both builds, once a
 * regression has been confirmed. */
#pragma once

#include "harness/commands/base/finish.h"

/* After confirm_run(). Where it fails, a line says so, and the comparison stands without counters. */
void count_run(struct finish *f, const struct plan *p, const struct session_options *opt);
