/* shape: at which sizes a kernel is launched: batch, heads, kv_heads, head_dim, dtype, causal. A plan gives
 * values or lists of them, a job one value each, which the placeholders of these names stand for.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_SHAPE_H
#define KERNSWEEP_COMMON_CONTRACT_SHAPE_H

#include "common/contract/keys.h"
#include "common/contract/subst.h"

enum { SHAPE_DIMENSIONS = SUBST_COUNT - SUBST_BATCH, SHAPE_TEXT_MAX = 24 };

/* Of one value. The row of the dimension that the placeholder SUBST_BATCH + i stands for is shape_keys[i]. */
extern const struct key shape_keys[];

struct shape {
    char text[SHAPE_DIMENSIONS][SHAPE_TEXT_MAX]; /* what the placeholders expand to; "" where not given */
};

/* A job's "shape", which may be absent. */
int shape_read(struct shape *s, const struct json_at *at, struct err *err);

#endif
