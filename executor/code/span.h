/* span: a part of a file that is mapped into memory, and bounded little-endian reads from it.
 *
 * Everything in executor/code reads compiled files, which are untrusted: no offset or size in them is used
 * before it was checked here. A span borrows its bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const uint8_t *data;
    size_t len;
};

/* Its data is never NULL, so that it can be handed on. */
#define SPAN_EMPTY ((struct span){(const uint8_t *)"", 0})

/* Returns false, with an empty span, where the part is not within the whole. */
static inline bool span_part(struct span whole, uint64_t offset, uint64_t len, struct span *out)
{
    *out = SPAN_EMPTY;
    if (offset > whole.len || len > whole.len - offset)
        return false;
    if (whole.len > 0)
        *out = (struct span){whole.data + offset, (size_t)len};
    return true;
}

/* Returns a number of size bytes, at most 8; 0 outside of the span. */
static inline uint64_t span_number(struct span s, uint64_t offset, size_t size)
{
    struct span part;
    uint64_t n = 0;
    if (!span_part(s, offset, size, &part))
        return 0;
    for (size_t i = size; i-- > 0;)
        n = n << 8 | part.data[i];
    return n;
}

static inline uint16_t span_u16(struct span s, uint64_t offset)
{
    return (uint16_t)span_number(s, offset, 2);
}

static inline uint32_t span_u32(struct span s, uint64_t offset)
{
    return (uint32_t)span_number(s, offset, 4);
}

static inline uint64_t span_u64(struct span s, uint64_t offset)
{
    return span_number(s, offset, 8);
}

static inline bool span_begins(struct span s, const void *magic, size_t len)
{
    return s.len >= len && memcmp(s.data, magic, len) == 0;
}
