/* conditions: which points of a plan are left out: those that meet one of "skip", and, where there is "only",
 * those that meet none of it. A condition names axes, dimensions of a shape, "variant" and "context", each
 * with a value or an array of them, and is met where all of them are.
 */
#pragma once

#include "common/base/json.h"

struct conditions {
    const json_t *skip, *only; /* borrowed; NULL: none */
};

/* A cell: what a condition is held against. */
struct condition_cell {
    const char *variant;  /* its name in the plan */
    const char *name;     /* with its point */
    const json_t *values; /* the words of its axes and of its shape, by name */
    int64_t context;      /* 0: any */
};

/* root: the plan. known: the names that conditions may use, NULL-terminated. */
int conditions_read(struct conditions *c, const struct json_at *root, const char *const *known,
                    struct err *err);
/* Fails at the first value that none of the cells has: a condition on it never means anything. What a
 * condition says of contexts is not checked. */
int conditions_check(const struct json_at *root, const struct condition_cell *cells, size_t n,
                     struct err *err);
/* With context 0: whether the point is left out at every context. */
bool conditions_leave_out(const struct conditions *c, const struct condition_cell *cell);
