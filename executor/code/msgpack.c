#include "executor/code/msgpack.h"

/* MessagePack is big-endian. */
static uint32_t big(struct span s, size_t at, size_t size)
{
    uint32_t n = 0;
    for (size_t i = 0; i < size; i++)
        n = n << 8 | (at + i < s.len ? s.data[at + i] : 0);
    return n;
}

/* Texts, arrays and maps whose length follows in `size` bytes, and values of a fixed size. */
struct form {
    uint8_t first, last;
    enum msgpack_kind kind;
    uint8_t size;  /* of the length, or of a fixed value */
    uint8_t extra; /* bytes of a value beyond its length: the type of an extension */
    bool bytes;    /* the length is of bytes */
};

static const struct form forms[] = {
    {0xc0, 0xc3, MSGPACK_OTHER, 0, 0, false}, {0xc4, 0xc4, MSGPACK_OTHER, 1, 0, true},
    {0xc5, 0xc5, MSGPACK_OTHER, 2, 0, true},  {0xc6, 0xc6, MSGPACK_OTHER, 4, 0, true},
    {0xc7, 0xc7, MSGPACK_OTHER, 1, 1, true},  {0xc8, 0xc8, MSGPACK_OTHER, 2, 1, true},
    {0xc9, 0xc9, MSGPACK_OTHER, 4, 1, true},  {0xca, 0xca, MSGPACK_OTHER, 4, 0, false},
    {0xcb, 0xcb, MSGPACK_OTHER, 8, 0, false}, {0xcc, 0xcc, MSGPACK_OTHER, 1, 0, false},
    {0xcd, 0xcd, MSGPACK_OTHER, 2, 0, false}, {0xce, 0xce, MSGPACK_OTHER, 4, 0, false},
    {0xcf, 0xcf, MSGPACK_OTHER, 8, 0, false}, {0xd0, 0xd0, MSGPACK_OTHER, 1, 0, false},
    {0xd1, 0xd1, MSGPACK_OTHER, 2, 0, false}, {0xd2, 0xd2, MSGPACK_OTHER, 4, 0, false},
    {0xd3, 0xd3, MSGPACK_OTHER, 8, 0, false}, {0xd4, 0xd4, MSGPACK_OTHER, 2, 0, false},
    {0xd5, 0xd5, MSGPACK_OTHER, 3, 0, false}, {0xd6, 0xd6, MSGPACK_OTHER, 5, 0, false},
    {0xd7, 0xd7, MSGPACK_OTHER, 9, 0, false}, {0xd8, 0xd8, MSGPACK_OTHER, 17, 0, false},
    {0xd9, 0xd9, MSGPACK_TEXT, 1, 0, true},   {0xda, 0xda, MSGPACK_TEXT, 2, 0, true},
    {0xdb, 0xdb, MSGPACK_TEXT, 4, 0, true},   {0xdc, 0xdc, MSGPACK_ARRAY, 2, 0, false},
    {0xdd, 0xdd, MSGPACK_ARRAY, 4, 0, false}, {0xde, 0xde, MSGPACK_MAP, 2, 0, false},
    {0xdf, 0xdf, MSGPACK_MAP, 4, 0, false},   {0xe0, 0xff, MSGPACK_OTHER, 0, 0, false},
};

static bool take_bytes(struct span s, size_t at, size_t before, uint64_t len, struct msgpack *out)
{
    out->head = before + (size_t)len;
    return span_part(s, at + before, len, &out->text);
}

/* Reads a value without its elements. */
static bool read_head(struct span s, size_t at, struct msgpack *out)
{
    if (at >= s.len)
        return false;
    uint8_t c = s.data[at];
    *out = (struct msgpack){.kind = MSGPACK_OTHER, .head = 1};
    if (c < 0x80)
        return true;
    if (c < 0xa0) {
        out->kind = c < 0x90 ? MSGPACK_MAP : MSGPACK_ARRAY;
        out->count = c & 15;
        return true;
    }
    if (c < 0xc0) {
        out->kind = MSGPACK_TEXT;
        return take_bytes(s, at, 1, c & 31, out);
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct form *f = &forms[i];
        if (c < f->first || c > f->last)
            continue;
        out->kind = f->kind;
        out->head = 1 + (size_t)f->size;
        if (f->bytes)
            return take_bytes(s, at, out->head, (uint64_t)big(s, at + 1, f->size) + f->extra, out);
        if (f->kind != MSGPACK_OTHER)
            out->count = big(s, at + 1, f->size);
        return out->head <= s.len - at;
    }
    return false;
}

static uint64_t elements(const struct msgpack *m)
{
    return m->kind == MSGPACK_MAP ? (uint64_t)m->count * 2 : m->kind == MSGPACK_ARRAY ? m->count : 0;
}

/* Every element takes at least one byte, so this ends with the span. */
bool msgpack_at(struct span s, size_t at, struct msgpack *out)
{
    if (!read_head(s, at, out))
        return false;
    uint64_t pending = elements(out);
    size_t end = at + out->head;
    for (; pending > 0; pending--) {
        struct msgpack element;
        if (pending > s.len || !read_head(s, end, &element))
            return false;
        end += element.head;
        pending += elements(&element);
    }
    out->size = end - at;
    return true;
}

bool msgpack_find(struct span s, size_t map, const char *key, size_t *out)
{
    struct msgpack m, k, v;
    if (!msgpack_at(s, map, &m) || m.kind != MSGPACK_MAP)
        return false;
    size_t at = map + m.head;
    for (uint32_t i = 0; i < m.count; i++) {
        if (!msgpack_at(s, at, &k) || !msgpack_at(s, at + k.size, &v))
            return false;
        if (k.kind == MSGPACK_TEXT && k.text.len == strlen(key) &&
            memcmp(k.text.data, key, k.text.len) == 0) {
            *out = at + k.size;
            return true;
        }
        at += k.size + v.size;
    }
    return false;
}

bool msgpack_number(struct span s, size_t at, uint64_t *out)
{
    struct msgpack m;
    if (!msgpack_at(s, at, &m))
        return false;
    uint8_t c = s.data[at];
    *out = c;
    if (c < 0x80)
        return true;
    if (c < 0xcc || c > 0xcf)
        return false;
    size_t size = (size_t)1 << (c - 0xcc);
    *out = big(s, at + 1, size < 4 ? size : 4);
    if (size == 8)
        *out = *out << 32 | big(s, at + 5, 4);
    return true;
}
