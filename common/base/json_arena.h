/* json_arena: JSON that is read, looked at and thrown away as a whole.
 *
 * jansson asks for memory three times a value and gives each piece back alone; reading thousands of small
 * files, that costs as much as the rest. What json_parse_in() returns lies in an arena instead: it is const,
 * it is never json_decref()ed, and it goes with json_arena_reset() or json_arena_release(). An arena belongs
 * to one thread at a time. All other JSON of the process is as always.
 */
#ifndef KERNSWEEP_COMMON_BASE_JSON_ARENA_H
#define KERNSWEEP_COMMON_BASE_JSON_ARENA_H

#include "common/base/json.h"

struct json_chunk;

struct json_arena {
    struct json_chunk *newest; /* NULL: nothing yet; {0} is an empty arena */
};

/* As json_parse(). NULL on error. */
const json_t *json_parse_in(struct json_arena *a, const char *text, size_t len, const char *file,
                            struct err *err);

/* All of its JSON is gone; some of the memory is kept for what comes next. */
void json_arena_reset(struct json_arena *a);
void json_arena_release(struct json_arena *a);

#endif
