/* artifact: reads the JSON that executors write (perf.json, node.json, job.json) into a draft.
 *
 * Shared by the readers of both layouts. The values are untrusted: wrong types and ranges are errors that
 * name the file and the place. Of the timings that a workload printed, only numbers are taken; the rest is
 * ignored with a warning.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_ARTIFACT_H
#define KERNSWEEP_RESULTS_INGEST_ARTIFACT_H

#include "common/base/json.h"
#include "results/ingest/draft.h"

/* Absent and null leave NaN, RUN_UNKNOWN or "" in *out. Text must fit size. */
int artifact_num(const struct json_at *obj, const char *key, double lo, double hi, double *out,
                 struct err *err);
int artifact_int(const struct json_at *obj, const char *key, int64_t lo, int64_t hi, int64_t *out,
                 struct err *err);
int artifact_text(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err);
/* As artifact_text, but what is too long is cut at a character's border: reasons. */
int artifact_cut(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err);
/* As artifact_text, required, and a name (text_is_name). */
int artifact_name(const struct json_at *obj, const char *key, char *out, size_t size, struct err *err);
/* "" or 64 hex digits. */
int artifact_sha256(const struct json_at *obj, const char *key, char *out, struct err *err);

/* All of perf.json except its identity (variant, context, repetition). */
int artifact_perf(const struct json_at *perf, struct draft *d, struct draft_test *t, struct err *err);
/* node.json: every scalar that does not change from minute to minute becomes a fact. */
int artifact_node(const struct json_at *node, struct draft *d, struct err *err);
/* "env.K", "env.<variant>.K" and "patches.<variant>" of job.json; the values of job.secrets are never taken.
 */
int artifact_env(const struct json_at *job, struct draft *d, struct err *err);
/* resources.json of a variant: the metrics of a build, each the largest of its kernels. */
int artifact_resources(const struct json_at *resources, struct run_variant *v, struct err *err);

#endif
