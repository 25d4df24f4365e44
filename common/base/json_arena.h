/* json_arena: JSON that is parsed, read and discarded as a whole.
 *
 * jansson makes three allocations per value and frees each one separately; over thousands of small files that
 * costs as much as all other work. What json_parse_in() returns lives in an arena instead: it is const, never
 * json_decref()ed, and is freed by json_arena_reset() or json_arena_release(). An arena belongs to one thread
 * at a time. All other JSON stays on the heap.
 */
#pragma once

#include "common/base/json.h"

struct json_chunk;

struct json_arena {
    struct json_chunk *newest; /* NULL while empty; {0} is an empty arena */
};

/* Does as json_parse(). Returns NULL on error. */
const json_t *json_parse_in(struct json_arena *a, const char *text, size_t len, const char *file,
                            struct err *err);

/* Discards its JSON but keeps one chunk of memory for reuse. */
void json_arena_reset(struct json_arena *a);
void json_arena_release(struct json_arena *a);
