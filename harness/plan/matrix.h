/* matrix: the contexts of a plan, each with its repetitions and time-out. */
#pragma once

#include "common/base/json.h"

struct plan_context {
    int64_t tokens;
    int64_t repetitions; /* excluding warm-ups; with until, the most */
    double until;        /* percent: half width of the median's interval that is narrow enough; 0: none */
    int64_t least;       /* repetitions, whatever the interval */
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

/* Replaces the contexts by those of list ("4096,8192"), with the plan's time-outs and repetitions. */
int matrix_select(struct matrix *m, const struct json_at *root, const char *list, struct err *err);
/* Replaces the contexts by those of the array, each once, likewise. */
int matrix_keep(struct matrix *m, const struct json_at *root, const int64_t *contexts, size_t n,
                struct err *err);
/* Sets the repetitions of all contexts, or raises those that are fewer. No rule remains. */
void matrix_repeat_exactly(struct matrix *m, int64_t count);
void matrix_repeat_at_least(struct matrix *m, int64_t count);
/* Sets the repetitions of one context; one that may have that many at most keeps its rule. */
void matrix_repeat_context(struct matrix *m, int64_t tokens, int64_t count);
/* Sets the repetitions of some contexts ("4096:2,8192:1"), or of all ("3"). No rule of theirs remains. */
int matrix_repeat(struct matrix *m, const char *list, struct err *err);
/* Whether any context's repetitions depend on what is measured. */
bool matrix_has_rule(const struct matrix *m);
