/* shapes: the shapes of a kernel plan. Each entry gives a value or a list of values per dimension and expands
 * to all combinations.
 */
#pragma once

#include "common/base/json.h"

/* at: "shapes". *out: an array of objects with all dimensions; the caller json_decref()s it even after a
 * failure. */
int shapes_read(json_t **out, const struct json_at *at, struct err *err);

/* Appends the part of a name that tells a shape from the others of the array: "b4h1", "bf16". Batch and heads
 * always appear together; kv_heads is omitted where it equals heads. */
void shapes_suffix(const json_t *shapes, const json_t *shape, struct buf *out);
