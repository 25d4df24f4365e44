/* plan_nightly: what a plan says about nightly runs: whom to notify of what, and how much to keep.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_NIGHTLY_H
#define KERNSWEEP_HARNESS_PLAN_NIGHTLY_H

#include "common/contract/keys.h"

/* Reasons to notify somebody; bits of a set. */
enum nightly_news {
    NEWS_REGRESSION = 1,
    NEWS_FAILURE = 2,
    NEWS_BLOCKED = 4,
    NEWS_RECOVERED = 8, /* nothing wrong any more, after one of these */
    NEWS_ALWAYS = 16,
};

struct plan_nightly {
    const json_t *notify; /* array of {"on": [...], "run": [argv]}, or NULL */
    int64_t keep_bundles; /* newest bundles of this plan that stay on disk; 0: all */
    int64_t keep_samples; /* newest runs of this plan whose samples stay in the store; 0: all */
    int64_t
        cache_days; /* sources and builds on the node that were unused for so long are removed; 0: never */
};

extern const struct key notification_keys[];

/* at: a plan's "notify", which may be absent. The rest of the struct is read with the plan's simple keys. */
int plan_nightly_read(struct plan_nightly *n, const struct json_at *at, struct err *err);
/* The set of an entry's "on"; the entry has been checked. */
unsigned plan_nightly_wants(const json_t *entry);

#endif
