/* artifact_activity: reads the member "activity" of perf.json: what the card did during a test. Its clock and
 * energy are metrics and read with these. Untrusted as the rest of perf.json (artifact.h).
 */
#ifndef KERNSWEEP_RESULTS_INGEST_BUNDLE_ARTIFACT_ACTIVITY_H
#define KERNSWEEP_RESULTS_INGEST_BUNDLE_ARTIFACT_ACTIVITY_H

#include "common/base/json.h"
#include "results/store/run_data.h"

/* Absent: nothing is known. */
int artifact_activity(const struct json_at *perf, struct run_activity *out, struct err *err);

#endif
