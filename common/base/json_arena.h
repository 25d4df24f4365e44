/* json_arena: JSON that is parsed, read and discarded as a whole.
 *
 * jansson allocates three times per value and frees each piece alone; over thousands of small files that
 * costs as much as everything else. What json_parse_in() returns lives in an arena instead: it is const,
 * never json_decref()ed, and goes with json_arena_reset() or json_arena_release(). An arena belongs to one
 * thread at a time. All other JSON of the process stays on the heap.
 */
#ifndef KERNSWEEP_COMMON_BASE_JSON_ARENA_H
#define KERNSWEEP_COMMON_BASE_JSON_ARENA_H

#include "common/base/json.h"

struct json_chunk;

struct json_arena {
    struct json_chunk *newest; /* NULL: nothing yet; {0} is an empty arena */
    json_t *roots;             /* without json_arena_install(): what was parsed, on the heap */
};

/* Gives jansson the allocator that arenas need. Called once by main(), before there are threads; a program
 * that does not call it gets the same JSON from the heap. */
void json_arena_install(void);

/* As json_parse(). NULL on error. */
const json_t *json_parse_in(struct json_arena *a, const char *text, size_t len, const char *file,
                            struct err *err);

/* Discards all of its JSON; keeps some memory for what comes next. */
void json_arena_reset(struct json_arena *a);
void json_arena_release(struct json_arena *a);

#endif
