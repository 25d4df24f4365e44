/* conditions: decide which points of a plan are left out: those that match any entry of "skip" and, if there
 * is "only", those that match none of its entries; and which cells are its tier "smoke". A condition names
 * axes, dimensions of a shape, "variant" and "context", each with a value or an array of values; it matches
 * if all of them do.
 */
#pragma once

#include "common/base/json.h"

struct conditions {
    const json_t *skip, *only, *smoke; /* borrowed; NULL: none */
    bool only_smoke;                   /* leave out all that is not of the tier */
};

/* A cell that conditions are tested on. */
struct condition_cell {
    const char *variant;  /* its name in the plan */
    const char *name;     /* including its point */
    const json_t *values; /* words of its axes and its shape, by name */
    int64_t context;      /* 0: any */
};

/* root: the plan. known: the names that conditions may use, NULL-terminated. */
int conditions_read(struct conditions *c, const struct json_at *root, const char *const *known,
                    struct err *err);
/* Fails at the first value that no cell has, as it would have no effect. Contexts are not checked. */
int conditions_check(const struct json_at *root, const struct condition_cell *cells, size_t n,
                     struct err *err);
/* Whether the cell is left out. With context 0: whether its point is left out at every context. */
bool conditions_leave_out(const struct conditions *c, const struct condition_cell *cell);
/* Whether the cell, or with context 0 any at its point, is of the tier. */
bool conditions_smoke(const struct conditions *c, const struct condition_cell *cell);
