/* artifact: reads the JSON written by executors (perf.json, node.json, job.json, resources.json) into a
 * draft.
 *
 * The readers of both layouts share it. The values are untrusted: wrong types and ranges are errors that name
 * the file and the place. Timings that are not numbers are ignored with a warning.
 */
#pragma once

#include "common/base/json.h"
#include "results/ingest/draft/draft.h"

enum { PLACE_GPUS_MAX = 64 };

/* Absent and null yield NaN, RUN_UNKNOWN or "". It is an error if text does not fit. */
int artifact_num(const struct json_at *obj, const char *key, double lo, double hi, double *out,
                 struct err *err);
int artifact_int(const struct json_at *obj, const char *key, int64_t lo, int64_t hi, int64_t *out,
                 struct err *err);
int artifact_text(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err);
/* As artifact_text, but long text is truncated at a character boundary. */
int artifact_cut(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err);
/* As artifact_text, but must be a name (text_is_name). */
int artifact_name(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err);
/* "" or 64 hex digits. */
int artifact_sha256(const struct json_at *obj, const char *key, char *out, struct err *err);

/* Adds a file's path and contents, of at most max bytes, to the hash that identifies a folder without a
 * manifest. */
int artifact_hash(const char *rel, const char *full, size_t max, struct sha256 *h, struct err *err);

/* All of perf.json except its identity (variant, context, repetition) and what the next three read. */
int artifact_perf(const struct json_at *perf, struct draft *d, struct draft_test *t, struct err *err);
/* "activity": what the card did during the test. Its clock and energy are metrics and read with these. */
int artifact_activity(const struct json_at *perf, struct run_activity *out, struct err *err);
/* How the test was contained, and the image of its variant's container. */
int artifact_held(const struct json_at *perf, struct draft *d, struct run_test *out, struct err *err);
/* The test's GPUs, their mode, and how many tests of the run were in flight on others meanwhile. */
int artifact_place(const struct json_at *perf, struct run_test *out, struct err *err);
/* The ids of these GPUs as run_test.gpu has them. list: an array of objects with the member "id", or of ids.
 * ERR_INPUT for an id that is invalid or repeated. */
int place_join(const struct json_at *list, char *out, size_t size, struct err *err);
/* node.json: every scalar becomes a fact, except those that change from minute to minute. */
int artifact_node(const struct json_at *node, struct draft *d, struct err *err);
/* job.json: the facts "env.K", "env.<variant>.K" and "patches.<variant>", without the values of job.secrets.
 */
int artifact_env(const struct json_at *job, struct draft *d, struct err *err);
/* resources.json of a variant: the metrics of a build, each the maximum over its kernels. Implausible numbers
 * are left out with a warning. */
int artifact_resources(const struct json_at *resources, size_t variant, struct draft *d, struct err *err);
