/* plan: what the user wants to be swept, read from a JSON file and checked whole before anything starts.
 *
 * A struct plan owns its JSON; the strings in it point into that JSON or into the plan's own copies and live
 * until plan_release(). Every error names the file, the JSON path and what was expected. Knows nothing of
 * nodes, transports or stores. Times are in seconds. docs/plans.md describes every key.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_PLAN_H
#define KERNSWEEP_HARNESS_PLAN_PLAN_H

#include "common/base/err.h"
#include "common/base/sha256.h"
#include "common/contract/proto.h"
#include "common/contract/scheduler.h"
#include "harness/plan/nightly.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plan_order { PLAN_INTERLEAVED, PLAN_GROUPED };

struct plan_variant {
    const char *name;
    const char *attn_impl; /* "" when the workload need not name one */
    const json_t *build;   /* array of argv arrays, or NULL */
    const json_t *run;     /* argv array */
    const json_t *env;     /* object of strings, or NULL */
    const json_t *gates;   /* array, or NULL */
    const json_t *patches; /* array, or NULL; applied after the plan's own */
    const char *kernel;    /* of a kernel plan: the variant as the plan calls it; else NULL */
    const json_t *shape;   /* likewise: at which it is measured */
    char *own_name;        /* NULL: name is the plan's text */
};

struct plan_context {
    int64_t tokens;
    int64_t repetitions; /* counted ones; warm-ups come on top */
    double timeout_s;
};

struct plan {
    char *file;
    json_t *root; /* as the user wrote it */
    char sha256[SHA256_HEX_LEN + 1];
    const char *ticket, *tag, *node, *workdir, *mode, *baseline, *reference;
    const char *prompt_tokens; /* "if_printed" or "required" */
    const char *model;         /* file on the node, or NULL when none is named */
    char *source_dir;          /* absolute, or NULL when nothing is pushed */
    const char **include;      /* NULL-terminated, or NULL for the whole tree */
    const json_t *env, *secrets, *timings, *patches;
    struct plan_variant *variants;
    size_t n_variants;
    json_t *shapes;              /* of a kernel plan, crossed out; else NULL */
    struct plan_variant *shaped; /* owns the names of what shapes made of the variants */
    size_t n_shaped;
    struct plan_context *contexts;
    size_t n_contexts;
    enum plan_order order;
    int64_t warmup;
    int64_t sample_interval_ms, log_limit_bytes, vram_tolerance_bytes;
    double build_timeout_s, kill_grace_s, lock_wait_s, hang_after_s, no_output_timeout_s, vram_settle_s;
    double threshold;                     /* relative change that counts, 0.05 = 5 % */
    double connect_timeout_s, patience_s; /* per attempt; overall */
    struct scheduler scheduler;
    struct plan_nightly nightly;
};

int plan_load(struct plan *p, const char *file, struct err *err);
void plan_release(struct plan *p);

/* Of a kernel plan a variant's own name stands for all of its shapes.
 * The command line's narrowing and overriding of a loaded plan; NULL leaves things alone. Lists are
 * comma-separated; repeat is "4096:2,8192:1". Unknown variants, contexts that the plan gives no time-out for,
 * too many tests and malformed or empty lists are ERR_INPUT naming the option. */
int plan_select_variants(struct plan *p, const char *list, struct err *err);
int plan_select_contexts(struct plan *p, const char *list, struct err *err);
int plan_set_repeat(struct plan *p, const char *list, struct err *err);

/* Tests that the plan expands to, warm-ups included. */
size_t plan_test_count(const struct plan *p);

/* In tokens; 0 for a plan without contexts. */
int64_t plan_largest_context(const struct plan *p);

#endif
