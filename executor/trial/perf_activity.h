/* perf_activity: the member "activity" of perf.json: what the card did during the test.
 */
#ifndef KERNSWEEP_EXECUTOR_TRIAL_PERF_ACTIVITY_H
#define KERNSWEEP_EXECUTOR_TRIAL_PERF_ACTIVITY_H

#include "common/contract/timings.h"
#include "executor/telemetry/activity.h"

/* printed_s: when the timings arrived, since the test's start; NaN: never. NULL where nothing was measured.
 */
json_t *perf_activity(const struct activity_log *log, const struct timings *t, double printed_s,
                      double end_s);

#endif
