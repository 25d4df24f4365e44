/* overrides: command-line options that override a plan: what to measure, where, and under which names. A
 * run's record keeps them until the node has the run, so that an interrupted start can be repeated.
 */
#pragma once

#include "common/base/fs.h"
#include "common/contract/proto.h"
#include "harness/plan/plan.h"

/* Strings are borrowed; NULL keeps the plan's value. */
struct overrides {
    const char *node, *mode, *tag, *baseline;
    const char *variants, *contexts; /* only these: "v3,v4", "4096,8192" */
    const char *axis;                /* only these values: "block=64,128,dtype=bf16" */
    const char *tier;                /* only this tier: "smoke" */
    const char *repeat;              /* repetitions per context: "4096:2,8192:1" */
    const char *budget;              /* time for its tests: "20m"; measures what changed */
    const char *date;                /* instead of today's: 2026-02-14 */
    bool fresh;                      /* ignore cached builds */
    bool changed;                    /* measure what changed */
    bool single_shot;                /* no effect, since every run is one; accepted for old scripts */
};

/* Rejects values that are invalid for any plan. ERR_INPUT naming the option. */
int overrides_check(const struct overrides *o, struct err *err);

/* Changes a loaded plan, which borrows the strings. In a kernel plan, a variant's name without a shape
 * selects all of its shapes; with axes, all of its points. Unknown variants and values of axes, contexts
 * without a time-out, too many tests, and malformed or empty lists are ERR_INPUT. After a failure, the plan
 * can only be released. */
int overrides_apply(const struct overrides *o, struct plan *p, struct err *err);

/* Reduces a plan to a cheap run that tries each variant once, at its first shape and the smallest context. */
void plan_smoke(struct plan *p);
/* Drops what its builds do not need: GPUs, clocks, limits, isolation, a scheduler. */
void plan_only_builds(struct plan *p);

/* Whether the run measures what changed, instead of everything. */
bool overrides_some(const struct overrides *o);
/* Reads a time such as "90s", "20m" or "1.5h"; NULL: 0. ERR_INPUT naming --budget. */
int overrides_budget(const char *text, double *seconds, struct err *err);

/* The overrides that a record keeps. "" in the first six means not given. */
struct overrides_record {
    char variants[FS_PATH_MAX], contexts[FS_PATH_MAX], repeat[FS_PATH_MAX], axis[FS_PATH_MAX];
    char tier[16], budget[32];
    char date[16], tag[LIMIT_NAME + 1], mode[16];
    bool fresh, changed;
};

/* Returns false if one is too long. */
bool overrides_keep(struct overrides_record *r, const struct overrides *o);
/* The result borrows from r. */
struct overrides overrides_kept(const struct overrides_record *r);
int overrides_encode(const struct overrides_record *r, json_t *obj);
int overrides_decode(struct overrides_record *r, const struct json_at *obj, struct err *err);
