/* msgpack: walks the MessagePack of a code object's metadata. Every step is checked against the span; what is
 * malformed ends the walk.
 */
#pragma once

#include "executor/code/span.h"

enum msgpack_kind { MSGPACK_OTHER, MSGPACK_TEXT, MSGPACK_ARRAY, MSGPACK_MAP };

struct msgpack {
    enum msgpack_kind kind;
    struct span text;  /* of MSGPACK_TEXT */
    uint32_t count;    /* of elements; of pairs in a map */
    size_t head, size; /* of the head, with a text; of the whole value */
};

/* Reads the value at that place. */
bool msgpack_at(struct span s, size_t at, struct msgpack *out);
/* Finds the value of a key in the map at that place. */
bool msgpack_find(struct span s, size_t map, const char *key, size_t *out);
/* Reads an integer that is not negative, at that place; false for anything else. */
bool msgpack_number(struct span s, size_t at, uint64_t *out);
