/* artifact_place: reads where a test ran from its perf.json: its GPUs, their mode, and how many tests of the
 * run were in flight on others meanwhile. Untrusted as the rest of perf.json (artifact.h).
 */
#ifndef KERNSWEEP_RESULTS_INGEST_BUNDLE_ARTIFACT_PLACE_H
#define KERNSWEEP_RESULTS_INGEST_BUNDLE_ARTIFACT_PLACE_H

#include "common/base/json.h"
#include "results/store/run_data.h"

enum { PLACE_GPUS_MAX = 64 };

/* Absent members: unknown. */
int artifact_place(const struct json_at *perf, struct run_test *out, struct err *err);

/* The ids of these GPUs as run_test.gpu has them. list: an array of objects with the member "id", or of ids.
 * Errors: ERR_INPUT for an id that is none, or twice there. */
int place_join(const struct json_at *list, char *out, size_t size, struct err *err);

#endif
