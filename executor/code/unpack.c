#include "executor/code/unpack.h"

#include "common/base/alloc.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum { LZ4_MATCH_MIN = 4, LZ4_MORE = 15, LZ4_BYTE_MAX = 255 };

uint8_t *unpack_zstd(struct span packed, size_t max, size_t *len)
{
    if (packed.len == 0)
        return NULL;
    /* Decoding in one piece makes the output itself the window, so that no frame makes libzstd allocate
     * one. */
    uint8_t *out = xmalloc(max);
    *len = ZSTD_decompress(out, max, packed.data, packed.len);
    if (!ZSTD_isError(*len))
        return out;
    free(out);
    return NULL;
}

uint8_t *unpack_zlib(struct span packed, size_t max, size_t *len)
{
    uint8_t *out = xmalloc(max);
    uLongf size = max;
    uLong used = packed.len;
    bool good = uncompress2(out, &size, packed.data, &used) == Z_OK && used == packed.len;
    *len = size;
    if (good)
        return out;
    free(out);
    return NULL;
}

/* What was decoded so far. */
struct output {
    uint8_t *data;
    size_t len, max;
};

static bool add_literals(struct output *o, struct span literals)
{
    if (literals.len > o->max - o->len)
        return false;
    memcpy(o->data + o->len, literals.data, literals.len);
    o->len += literals.len;
    return true;
}

/* Repeats what lies `back` bytes before the end; the two may overlap. */
static bool repeat(struct output *o, size_t back, size_t len)
{
    if (back == 0 || back > o->len || len > o->max - o->len)
        return false;
    for (size_t end = o->len + len; o->len < end; o->len++)
        o->data[o->len] = o->data[o->len - back];
    return true;
}

/* Reads a length whose first four bits are in the token. */
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

static bool decode_lz4(struct span packed, struct output *o)
{
    for (size_t at = 0; at < packed.len;) {
        uint8_t token = packed.data[at++];
        struct span literals;
        size_t len;
        if (!read_length(packed, &at, token >> 4, &len) || !span_part(packed, at, len, &literals) ||
            !add_literals(o, literals))
            return false;
        at += len;
        if (at == packed.len)
            return true; /* the last one has literals only */
        size_t back = span_u16(packed, at);
        at += 2;
        if (at > packed.len || !read_length(packed, &at, token & LZ4_MORE, &len) ||
            !repeat(o, back, len + LZ4_MATCH_MIN))
            return false;
    }
    return false;
}

uint8_t *unpack_lz4(struct span packed, size_t max, size_t *len)
{
    struct output o = {.data = xmalloc(max), .max = max};
    bool good = decode_lz4(packed, &o);
    *len = o.len;
    if (good)
        return o.data;
    free(o.data);
    return NULL;
}
