/* job: job.json as a struct: what to build, gate and run, in which order, within which limits. All names,
 * numbers and placeholders are validated here, so the rest of the executor may trust them. What a job shares
 * with a plan is read by common/contract. Strings are borrowed from the JSON, which the job owns.
 */
#pragma once

#include "common/contract/counters.h"
#include "common/contract/gpu_wish.h"
#include "common/contract/scheduler.h"
#include "common/contract/settings.h"
#include "common/contract/timing_rule.h"
#include "executor/bundle/part.h"

struct job {
    json_t *root; /* owned */
    const char *run_id, *date, *node;
    const char *source_sha256; /* NULL: no source tree */
    bool fresh;                /* ignore cached builds */
    int purpose;               /* enum run_purpose */
    const json_t *preflight;   /* the harness's warnings about the node, or NULL */
    struct settings settings;
    struct secret_names secrets;
    struct env env;
    struct timing_rule timings;
    struct own_metrics metrics;
    struct scheduler scheduler;
    struct gpu_wish gpus;
    struct counters counters; /* to be counted in this run */
    struct job_part part;
    struct variant *variant;
    size_t variant_count;
    struct job_test *test; /* test_index is the array index + 1 */
    size_t test_count;
};

/* The keys that only a job has; the others are settings_keys. */
extern const struct key job_keys[];

/* Takes ownership of root, even on failure. file is for messages. */
int job_init(struct job *job, json_t *root, const char *file, struct err *err);
void job_release(struct job *job);

bool job_is_secret(const struct job *job, const char *name);
