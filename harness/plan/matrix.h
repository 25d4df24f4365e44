/* matrix: the contexts of a plan, each with its repetitions and time-out. */
#pragma once

#include "common/base/json.h"

struct plan_context {
    int64_t tokens;
    int64_t repetitions; /* without warm-ups; with until, the maximum */
    double until;        /* percent: sufficient half width of the median's interval; 0: no rule */
    int64_t least;       /* with until, the minimum number of repetitions */
    double timeout_s;
};

enum plan_order { PLAN_INTERLEAVED, PLAN_GROUPED };

struct matrix {
    struct plan_context *contexts;
    size_t count;
    enum plan_order order; /* of all tests (job.h) */
    int64_t warmup;        /* additional repetitions before the measured ones */
};

/* root: the plan; reads its "contexts", "timeouts" and "repetitions", once m->warmup is known. */
int matrix_read(struct matrix *m, const struct json_at *root, struct err *err);
void matrix_release(struct matrix *m);

/* Replaces the contexts by those of the list ("4096,8192"), using the plan's time-outs and repetitions. */
int matrix_select(struct matrix *m, const struct json_at *root, const char *list, struct err *err);
/* Like matrix_select(), with an array; duplicates are dropped. */
int matrix_keep(struct matrix *m, const struct json_at *root, const int64_t *contexts, size_t n,
                struct err *err);
/* Sets the repetitions of all contexts, or raises them to this minimum. Both drop the rules. */
void matrix_repeat_exactly(struct matrix *m, int64_t count);
void matrix_repeat_at_least(struct matrix *m, int64_t count);
/* Sets the repetitions of one context. A rule whose maximum is this number stays. */
void matrix_repeat_context(struct matrix *m, int64_t tokens, int64_t count);
/* Sets the repetitions of some contexts ("4096:2,8192:1") or of all ("3"), and drops their rules. */
int matrix_repeat(struct matrix *m, const char *list, struct err *err);
/* Whether the repetitions of any context depend on the measurements. */
bool matrix_has_rule(const struct matrix *m);
