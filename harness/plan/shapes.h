/* shapes: the shapes of a kernel plan. Each entry gives a value or a list of values for every dimension; the
 * shapes are all combinations of them.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_SHAPES_H
#define KERNSWEEP_HARNESS_PLAN_SHAPES_H

#include "common/base/json.h"

/* at: "shapes". *out is an array of objects with all dimensions, which the caller json_decref()s in any case.
 */
int shapes_read(json_t **out, const struct json_at *at, struct err *err);

/* Appends what distinguishes a shape from the others of the array: "b4h1", "bf16". Batch and heads go
 * together; kv_heads is left out where it equals heads. */
void shapes_suffix(const json_t *shapes, const json_t *shape, struct buf *out);

#endif
