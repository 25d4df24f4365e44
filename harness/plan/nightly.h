/* plan_nightly: the settings for nightly runs in a plan: notifications and retention. */
#pragma once

#include "common/contract/keys.h"

/* Reasons for a notification; bits of a set. */
enum nightly_news {
    NEWS_REGRESSION = 1,
    NEWS_FAILURE = 2,
    NEWS_BLOCKED = 4,
    NEWS_RECOVERED = 8, /* everything is fine again after one of the above */
    NEWS_ALWAYS = 16,
    NEWS_SUSPECTED = 64,    /* cells are suspected, whatever else there is */
    NEWS_INCONCLUSIVE = 32, /* nothing new was found, but the measurements do not clear what is open, or most
                               of the cells */
};

struct plan_nightly {
    const json_t *notify; /* array of {"on": [...], "run": [argv]}, or NULL */
    int64_t keep_bundles; /* how many of the newest bundles stay on disk; 0: all */
    int64_t keep_samples; /* how many of the newest runs keep their samples in the store; 0: all */
    int64_t cache_days;   /* days after which unused sources and builds on the node are removed; 0: never */
};

extern const struct key notification_keys[];

/* Reads a plan's "notify" (at), which may be absent. The other members are among plan_keys. */
int plan_nightly_read(struct plan_nightly *n, const struct json_at *at, struct err *err);
/* Checks "languages" (at), which reports read from the run's plan; it may be absent. */
int plan_languages_check(const struct json_at *at, struct err *err);
/* The set of reasons in "on" of an entry of notify. */
unsigned plan_nightly_wants(const json_t *entry);
