/* shape: the dimensions a kernel is launched with: batch, heads, kv_heads, head_dim, dtype, causal. A plan
 * gives values or lists of values; a job gives one value each, to which the placeholders of the same names
 * expand.
 */
#pragma once

#include "common/contract/keys.h"
#include "common/contract/subst.h"

enum { SHAPE_DIMENSIONS = SUBST_COUNT - SUBST_BATCH, SHAPE_TEXT_MAX = 24 };

/* shape_keys[i] is the row of the dimension of placeholder SUBST_BATCH + i. */
extern const struct key shape_keys[];

struct shape {
    char text[SHAPE_DIMENSIONS][SHAPE_TEXT_MAX]; /* expansions of the placeholders; "" where not given */
};

/* at: a job's "shape", which may be absent. */
int shape_read(struct shape *s, const struct json_at *at, struct err *err);
