/* summary: a run's summary.json, and its counts.
 */
#pragma once

#include "executor/suite/suite.h"

struct summary_counts {
    size_t total, ok, failed, skipped; /* skipped: SKIPPED and CANCELLED */
};

struct summary_counts summary_count(const struct suite *s);
/* reason: why a run is not COMPLETE, "" otherwise. */
int summary_write(struct suite *s, enum run_status status, const char *reason, double wall_s,
                  struct err *err);
