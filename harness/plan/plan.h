/* plan: what to sweep, read from a file (JSON, also with comments, or YAML: document.h) and validated
 * completely before anything starts.
 *
 * A struct plan owns its JSON; its strings point into that JSON and are valid until plan_release(). Every
 * error names the file, the line, the column, the JSON path, what was found and what was expected. Times are
 * in seconds. docs/plans.md describes every key.
 */
#pragma once

#include "common/base/problems.h"
#include "common/base/sha256.h"
#include "common/contract/counters.h"
#include "common/contract/gpu_wish.h"
#include "common/contract/own_metric.h"
#include "common/contract/scheduler.h"
#include "common/contract/settings.h"
#include "harness/plan/matrix.h"
#include "harness/plan/nightly.h"
#include "harness/plan/nodes.h"
#include "harness/plan/source.h"
#include "harness/plan/variants.h"

enum { CONFIRM_ROUNDS_MAX = 10 };

struct plan {
    char *file;
    json_t *root;     /* as the user wrote it */
    json_t *recorded; /* job.json beside a plan in a bundle (recorded.h); NULL: an ordinary plan */
    char sha256[SHA256_HEX_LEN + 1];
    struct settings settings; /* shared with the job */
    const char *node, *workdir, *baseline, *reference;
    struct plan_nodes nodes; /* from "nodes"; `node` is then the first of them */
    const char *kind;        /* "prefill" or "kernel" */
    double threshold;        /* smallest relative change that counts as a regression; 0.05 = 5 % */
    struct {
        int64_t rounds;
        bool bisect;           /* a nightly run searches for the commit of a confirmed regression */
        double bisect_minutes; /* per night */
    } confirm;
    struct {
        double timeout_s, patience_s; /* per attempt; in total */
    } connect;
    struct {
        int64_t nights; /* a run that measures what changed: each cell at least once in so many runs */
    } changed;          /* present: nightly runs are such */
    struct {
        double per_hour; /* of the node; only reports read it, from the stored plan */
        const char *currency;
    } cost;
    struct plan_source source;
    struct secret_names secrets;
    struct plan_variants variants;
    struct matrix matrix;
    struct scheduler scheduler;
    struct gpu_wish gpus;
    struct counters counters;
    struct plan_nightly nightly;
    struct own_metrics metrics;
};

/* The keys that occur only in plans; settings_keys has those shared with jobs. */
extern const struct key plan_keys[];

/* The path of a workdir without a leading "~/"; NULL if plans must not use this path. */
const char *plan_workdir(const char *path);

int plan_load(struct plan *p, const char *file, struct err *err);
/* Like plan_load(), but collects all errors of the file, sorted by line; err is only set for other
 * failures. */
int plan_load_all(struct plan *p, const char *file, struct json_problems *problems, struct err *err);
/* Loads a plan made in memory. Takes ownership of made, also after a failure. name: used in messages. */
int plan_take(struct plan *p, json_t *made, const char *name, struct err *err);
void plan_release(struct plan *p);

/* Number of tests, warm-ups included. */
size_t plan_test_count(const struct plan *p);
/* Fails with ERR_INPUT if there are too many tests; where: the responsible option or location in the plan. */
int plan_check_size(const struct plan *p, const char *where, struct err *err);

/* Keeps exactly these cells, as narrow_to_cells() does. ERR_INPUT if nothing is left. */
int plan_keep_cells(struct plan *p, const struct plan_cell *cells, size_t n, struct err *err);

/* Whether the plan has "nodes", so that each node has runs, nights and baselines of its own. */
bool plan_has_nodes(const struct plan *p);
/* ERR_INPUT if the plan names several nodes; for commands that use one. */
int plan_one_node(const struct plan *p, struct err *err);

/* Bits of enum container_engine that the variants' containers need. */
unsigned plan_engines(const struct plan *p);
/* In tokens; 0 for a plan without contexts. */
int64_t plan_largest_context(const struct plan *p);
