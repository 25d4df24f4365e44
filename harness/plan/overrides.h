/* overrides: what the command line says over a plan: which part of it to measure, where, and under which
 * names. A run's record keeps them until the node has the run, so that a start that was cut short can be
 * repeated.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_OVERRIDES_H
#define KERNSWEEP_HARNESS_PLAN_OVERRIDES_H

#include "common/base/fs.h"
#include "common/contract/proto.h"
#include "harness/plan/plan.h"

/* Strings are borrowed; NULL leaves the plan's. */
struct overrides {
    const char *node, *mode, *tag, *baseline;
    const char *variants, *contexts; /* "v3,v4", "4096,8192": only these */
    const char *repeat;              /* "4096:2,8192:1": repetitions by context */
    const char *date;                /* over today's: 2026-02-14 */
    bool fresh;                      /* ignore cached builds */
    bool single_shot;                /* what every run is; for old scripts */
};

/* ERR_INPUT that names the option, for values that no plan could make right. */
int overrides_check(const struct overrides *o, struct err *err);

/* Changes a loaded plan, which borrows the strings. Of a kernel plan a variant's own name stands for all of
 * its shapes. Unknown variants, contexts that the plan has no time-out for, too many tests, and malformed or
 * empty lists are ERR_INPUT. On failure the plan is to be released. */
int overrides_apply(const struct overrides *o, struct plan *p, struct err *err);

/* The ones that a record keeps, with their text. "" in the first three: not given. */
struct overrides_record {
    char variants[FS_PATH_MAX], contexts[FS_PATH_MAX], repeat[FS_PATH_MAX];
    char date[16], tag[LIMIT_NAME + 1], mode[16];
    bool fresh;
};

/* False when they are too long to be kept. */
bool overrides_keep(struct overrides_record *r, const struct overrides *o);
/* What r keeps; borrows from it. */
struct overrides overrides_kept(const struct overrides_record *r);
/* Adds them to an object, and reads them from one. */
int overrides_encode(const struct overrides_record *r, json_t *obj);
int overrides_decode(struct overrides_record *r, const struct json_at *obj, struct err *err);

#endif
