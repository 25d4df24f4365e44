#include "executor/code/unpack.h"

#include <stdlib.h>

enum { FIRST_CAP = 64 << 10, LZ4_MATCH_MIN = 4, LZ4_MORE = 15, LZ4_BYTE_MAX = 255 };

bool unpacked_room(struct unpacked *u, size_t len)
{
    if (len > u->max - u->len)
        return false;
    if (u->len + len <= u->cap)
        return true;
    size_t cap = u->cap ? u->cap : FIRST_CAP;
    while (cap < u->len + len)
        cap *= 2;
    uint8_t *data = realloc(u->data, cap);
    if (!data)
        return false;
    u->data = data;
    u->cap = cap;
    return true;
}

bool unpacked_add(struct unpacked *u, const uint8_t *data, size_t len)
{
    if (!unpacked_room(u, len))
        return false;
    if (len)
        memcpy(u->data + u->len, data, len);
    u->len += len;
    return true;
}

bool unpacked_copy(struct unpacked *u, size_t back, size_t len)
{
    if (back == 0 || back > u->len || !unpacked_room(u, len))
        return false;
    for (size_t i = 0; i < len; i++)
        u->data[u->len + i] = u->data[u->len + i - back];
    u->len += len;
    return true;
}

/* A length whose first four bits are in the token. */
static bool read_length(struct span s, size_t *at, uint8_t first, size_t *out)
{
    *out = first;
    if (first < LZ4_MORE)
        return true;
    while (*at < s.len) {
        uint8_t byte = s.data[(*at)++];
        *out += byte;
        if (byte < LZ4_BYTE_MAX)
            return true;
    }
    return false;
}

bool unpack_lz4(struct span packed, size_t max, struct unpacked *u)
{
    *u = (struct unpacked){.max = max < UNPACKED_MAX ? max : UNPACKED_MAX};
    for (size_t at = 0; at < packed.len;) {
        uint8_t token = packed.data[at++];
        struct span literals;
        size_t len;
        if (!read_length(packed, &at, token >> 4, &len) || !span_part(packed, at, len, &literals) ||
            !unpacked_add(u, literals.data, len))
            return false;
        at += len;
        if (at == packed.len)
            return true; /* the last one has literals only */
        size_t back = span_u16(packed, at);
        at += 2;
        if (at > packed.len || !read_length(packed, &at, token & LZ4_MORE, &len) ||
            !unpacked_copy(u, back, len + LZ4_MATCH_MIN))
            return false;
    }
    return false;
}
