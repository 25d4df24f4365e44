/* artifact_held: reads what held a test together from its perf.json, and the image of its variant's
 * container. Untrusted as the rest of perf.json (artifact.h).
 */
#ifndef KERNSWEEP_RESULTS_INGEST_BUNDLE_ARTIFACT_HELD_H
#define KERNSWEEP_RESULTS_INGEST_BUNDLE_ARTIFACT_HELD_H

#include "common/base/json.h"
#include "results/ingest/draft/draft.h"

/* Absent members: unknown. The image goes to the variant of `out`. */
int artifact_held(const struct json_at *perf, struct draft *d, struct run_test *out, struct err *err);

#endif
