/* plan: what the user wants to be swept, read from a JSON file and checked completely before anything starts.
 *
 * A struct plan owns its JSON; the strings in it point into that JSON and live until plan_release(). Every
 * error names the file, the JSON path, what was found and what was expected. Knows nothing of nodes,
 * transports or stores. Times are in seconds. docs/plans.md describes every key.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_PLAN_H
#define KERNSWEEP_HARNESS_PLAN_PLAN_H

#include "common/base/sha256.h"
#include "common/contract/scheduler.h"
#include "common/contract/settings.h"
#include "harness/plan/matrix.h"
#include "harness/plan/nightly.h"
#include "harness/plan/source.h"
#include "harness/plan/variants.h"

enum plan_order { PLAN_INTERLEAVED, PLAN_GROUPED };

struct plan {
    char *file;
    json_t *root; /* as the user wrote it */
    char sha256[SHA256_HEX_LEN + 1];
    struct settings settings; /* what the job has as well */
    const char *node, *workdir, *baseline, *reference;
    const char *kind; /* "prefill" or "kernel" */
    enum plan_order order;
    int64_t warmup;
    double threshold;                     /* relative change that counts, 0.05 = 5 % */
    double connect_timeout_s, patience_s; /* per attempt; overall */
    double cost_per_hour;                 /* of the node, for reports, which read it from the stored plan */
    const char *currency;
    struct plan_source source;
    struct secret_names secrets;
    struct plan_variants variants;
    struct matrix matrix;
    struct scheduler scheduler;
    struct plan_nightly nightly;
};

/* The keys that only a plan has; the others are settings_keys. */
extern const struct key plan_keys[];

int plan_load(struct plan *p, const char *file, struct err *err);
void plan_release(struct plan *p);

/* Tests that the plan expands to, warm-ups included. */
size_t plan_test_count(const struct plan *p);
/* ERR_INPUT when they are too many; where: the option or the place in the plan that makes them so. */
int plan_check_size(const struct plan *p, const char *where, struct err *err);

/* In tokens; 0 for a plan without contexts. */
int64_t plan_largest_context(const struct plan *p);

#endif
