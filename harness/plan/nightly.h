/* plan_nightly: what a plan says of its nights: whom to tell, and how much to keep. Checked with the plan.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_NIGHTLY_H
#define KERNSWEEP_HARNESS_PLAN_NIGHTLY_H

#include "common/base/json.h"

#include <stdbool.h>

/* Why somebody may want to be told; bits of a set. */
enum nightly_news {
    NEWS_REGRESSION = 1,
    NEWS_FAILURE = 2,
    NEWS_BLOCKED = 4,
    NEWS_RECOVERED = 8, /* quiet again after one of the others */
    NEWS_ALWAYS = 16,
};

struct plan_nightly {
    const json_t *notify; /* array of {"on": [...], "run": [argv]}, or NULL */
    int64_t keep_bundles; /* newest bundles of this plan that stay on disk; 0: all */
    int64_t keep_samples; /* newest runs of this plan whose samples stay in the store; 0: all */
    int64_t cache_days;   /* sources and builds on the node that nobody used for so long go; 0: they stay */
};

int plan_nightly_load(struct plan_nightly *n, const struct json_at *root, struct err *err);
/* The set of an entry's "on"; the entry has been checked. */
unsigned plan_nightly_wants(const json_t *entry);

#endif
