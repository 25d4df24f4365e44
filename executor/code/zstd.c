/* Zstandard frames, RFC 8878. A frame is a header and blocks; a compressed block is literals and sequences,
 * each of which copies some literals and then repeats earlier output. */
#include "executor/code/fse.h"
#include "executor/code/huffman.h"
#include "executor/code/unpack.h"

#include <stdlib.h>

enum {
    MAGIC_LEN = 4,
    BLOCK_HEAD = 3,
    BLOCK_MAX = 128 << 10,
    CHECKSUM = 4,
    LITERALS_RAW = 0,
    LITERALS_SINGLE = 1,
    LITERALS_TREELESS = 3,
    STREAMS = 4,
    JUMP_TABLE = 6,
    OFFSET_CODE_MAX = 31,
};

static const uint32_t magic = 0xfd2fb528, magic_skip = 0x184d2a50, skip_mask = 0xfffffff0;

enum { LENGTHS, OFFSETS, MATCHES, KINDS }; /* the order of their tables */

enum { LENGTH_CODES = 36, MATCH_CODES = 53, OFFSET_CODES = 32, OFFSET_DEFAULTS = 29 };

static const uint32_t length_base[LENGTH_CODES] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,   9,   10,  11,   12,   13,   14,   15,    16,    18,
    20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const uint8_t length_bits[LENGTH_CODES] = {0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0,
                                                  0, 0, 0, 0, 1, 1,  1,  1,  2,  2,  3,  3,
                                                  4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint32_t match_base[MATCH_CODES] = {
    3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,   14,   15,   16,   17,    18,    19,   20,
    21, 22, 23, 24, 25, 26, 27, 28,  29,  30,  31,   32,   33,   34,   35,    37,    39,   41,
    43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539};
static const uint8_t match_bits[MATCH_CODES] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
                                                0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  1,  1,  1, 1,
                                                2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static const int16_t length_default[LENGTH_CODES] = {4, 3, 2, 2, 2, 2, 2, 2, 2,  2,  2,  2,
                                                     2, 1, 1, 1, 2, 2, 2, 2, 2,  2,  2,  2,
                                                     2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
static const int16_t offset_default[OFFSET_DEFAULTS] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                                        1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};
static const int16_t match_default[MATCH_CODES] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};

static const struct kind {
    const int16_t *probability;
    int defaults, default_log, log_max, codes;
} kinds[KINDS] = {
    [LENGTHS] = {length_default, LENGTH_CODES, 6, 9, LENGTH_CODES},
    [OFFSETS] = {offset_default, OFFSET_DEFAULTS, 5, 8, OFFSET_CODES},
    [MATCHES] = {match_default, MATCH_CODES, 6, 9, MATCH_CODES},
};

/* What blocks of a frame hand on. */
struct frame {
    struct unpacked *out;
    struct huffman huffman;
    struct fse_table table[KINDS];
    bool has_table[KINDS];
    uint64_t recent[3]; /* offsets */
    uint8_t literals[BLOCK_MAX];
    size_t literals_len;
};

/* Four streams, the sizes of the first three before them; each but the last decodes to a quarter. */
static bool decode_streams(struct frame *f, struct span s, size_t streams)
{
    size_t quarter = (f->literals_len + STREAMS - 1) / STREAMS, at = JUMP_TABLE;
    struct span part;
    if (streams == 1)
        return huffman_decode(&f->huffman, s, f->literals, f->literals_len);
    if (s.len < JUMP_TABLE || quarter * (STREAMS - 1) > f->literals_len)
        return false;
    for (size_t i = 0; i < STREAMS; i++) {
        bool last = i == STREAMS - 1;
        size_t size = last ? s.len - at : span_u16(s, i * 2);
        size_t len = last ? f->literals_len - quarter * i : quarter;
        if (!span_part(s, at, size, &part) ||
            !huffman_decode(&f->huffman, part, f->literals + quarter * i, len))
            return false;
        at += size;
    }
    return true;
}

static bool read_compressed_literals(struct frame *f, struct span s, size_t *used)
{
    static const struct {
        size_t head, bits, streams;
    } formats[] = {{3, 10, 1}, {3, 10, 4}, {4, 14, 4}, {5, 18, 4}};
    unsigned type = s.data[0] & 3, format = s.data[0] >> 2 & 3;
    size_t head = formats[format].head, bits = formats[format].bits, tree = 0;
    uint64_t numbers = span_number(s, 0, head) >> 4, mask = (UINT64_C(1) << bits) - 1;
    struct span packed;
    f->literals_len = (size_t)(numbers & mask);
    *used = head + (size_t)(numbers >> bits & mask);
    if (f->literals_len > BLOCK_MAX || !span_part(s, head, *used - head, &packed))
        return false;
    if (type != LITERALS_TREELESS && !huffman_read(&f->huffman, packed, &tree))
        return false;
    return span_part(packed, tree, packed.len - tree, &packed) &&
           decode_streams(f, packed, formats[format].streams);
}

static bool read_literals(struct frame *f, struct span s, size_t *used)
{
    if (s.len == 0)
        return false;
    unsigned type = s.data[0] & 3, format = s.data[0] >> 2 & 3;
    if (type > LITERALS_SINGLE)
        return read_compressed_literals(f, s, used);
    size_t head = format == 1 ? 2 : format == 3 ? 3 : 1;
    f->literals_len = (size_t)(span_number(s, 0, head) >> (head == 1 ? 3 : 4));
    size_t size = type == LITERALS_RAW ? f->literals_len : 1;
    struct span bytes;
    *used = head + size;
    if (f->literals_len > BLOCK_MAX || !span_part(s, head, size, &bytes))
        return false;
    if (type == LITERALS_RAW)
        memcpy(f->literals, bytes.data, size);
    else
        memset(f->literals, bytes.data[0], f->literals_len);
    return true;
}

/* mode: predefined, one symbol, described, as before */
static bool read_table(struct frame *f, int kind, unsigned mode, struct span s, size_t *at)
{
    const struct kind *k = &kinds[kind];
    struct span rest;
    size_t used = 0;
    bool good = false;
    if (!span_part(s, *at, s.len - *at, &rest))
        return false;
    switch (mode) {
    case 0:
        good = fse_build(&f->table[kind], k->probability, k->defaults, k->default_log);
        break;
    case 1:
        good = rest.len > 0 && rest.data[0] < k->codes;
        used = 1;
        if (good)
            fse_single(&f->table[kind], rest.data[0]);
        break;
    case 2:
        good = fse_read(&f->table[kind], rest, k->log_max, k->codes, &used) && used <= rest.len;
        break;
    case 3:
        return f->has_table[kind];
    }
    *at += used;
    f->has_table[kind] = good;
    return good;
}

static uint64_t take_offset(struct frame *f, uint64_t value, bool no_literals)
{
    uint64_t *r = f->recent;
    uint64_t offset = value - 3;
    if (value <= 3) {
        uint64_t which = value - 1 + no_literals;
        if (which == 0)
            return r[0];
        offset = which < 3 ? r[which] : r[0] - 1;
        if (which == 1) {
            r[1] = r[0];
            r[0] = offset;
            return offset;
        }
    }
    r[2] = r[1];
    r[1] = r[0];
    r[0] = offset;
    return offset;
}

static bool run_sequences(struct frame *f, struct fse_bits *b, size_t count, size_t *literal)
{
    uint32_t state[KINDS];
    for (int k = 0; k < KINDS; k++)
        state[k] = fse_state(&f->table[k], b);
    for (size_t i = 0; i < count; i++) {
        uint8_t offset_code = f->table[OFFSETS].symbol[state[OFFSETS]];
        uint8_t match_code = f->table[MATCHES].symbol[state[MATCHES]];
        uint8_t length_code = f->table[LENGTHS].symbol[state[LENGTHS]];
        if (offset_code > OFFSET_CODE_MAX || match_code >= MATCH_CODES || length_code >= LENGTH_CODES)
            return false;
        uint64_t value = (UINT64_C(1) << offset_code) + fse_bits_read(b, offset_code);
        size_t match = match_base[match_code] + fse_bits_read(b, match_bits[match_code]);
        size_t len = length_base[length_code] + fse_bits_read(b, length_bits[length_code]);
        uint64_t offset = take_offset(f, value, len == 0);
        if (b->left < 0 || len > f->literals_len - *literal ||
            !unpacked_add(f->out, f->literals + *literal, len) || !unpacked_copy(f->out, offset, match))
            return false;
        *literal += len;
        if (i + 1 == count)
            break;
        state[LENGTHS] = fse_next(&f->table[LENGTHS], state[LENGTHS], b);
        state[MATCHES] = fse_next(&f->table[MATCHES], state[MATCHES], b);
        state[OFFSETS] = fse_next(&f->table[OFFSETS], state[OFFSETS], b);
    }
    return b->left == 0;
}

/* The number of sequences, in one to three bytes. */
static size_t read_count(struct span s, size_t *at)
{
    uint8_t first = (uint8_t)span_number(s, 0, 1);
    *at = first < 128 ? 1 : first < 255 ? 2 : 3;
    if (first < 128)
        return first;
    return first < 255 ? ((size_t)(first - 128) << 8) + (size_t)span_number(s, 1, 1)
                       : (size_t)span_u16(s, 1) + 0x7f00;
}

static bool read_compressed(struct frame *f, struct span block)
{
    struct span s, rest;
    struct fse_bits bits;
    size_t used, at, literal = 0;
    if (!read_literals(f, block, &used) || !span_part(block, used, block.len - used, &s) || s.len == 0)
        return false;
    size_t count = read_count(s, &at);
    if (count > 0) {
        uint8_t modes = (uint8_t)span_number(s, at++, 1);
        for (int k = 0; k < KINDS; k++)
            if (at > s.len || !read_table(f, k, modes >> (6 - 2 * k) & 3, s, &at))
                return false;
        if (at > s.len || !span_part(s, at, s.len - at, &rest) || !fse_bits_open(&bits, rest) ||
            !run_sequences(f, &bits, count, &literal))
            return false;
    }
    return unpacked_add(f->out, f->literals + literal, f->literals_len - literal);
}

/* *at is moved behind the block. */
static bool read_block(struct frame *f, struct span s, size_t *at, bool *last)
{
    uint32_t head = (uint32_t)span_number(s, *at, BLOCK_HEAD), size = head >> 3, type = head >> 1 & 3;
    struct span body;
    *last = head & 1;
    if (!span_part(s, *at, BLOCK_HEAD, &body) || !span_part(s, *at + BLOCK_HEAD, type == 1 ? 1 : size, &body))
        return false;
    *at += BLOCK_HEAD + body.len;
    if (type == 0)
        return unpacked_add(f->out, body.data, body.len);
    if (type == 2)
        return size <= BLOCK_MAX && read_compressed(f, body);
    if (type != 1 || !unpacked_room(f->out, size))
        return false;
    if (size)
        memset(f->out->data + f->out->len, body.data[0], size);
    f->out->len += size;
    return true;
}

/* The header says sizes that are not needed here; a dictionary is refused by what refers to it. */
static size_t header_size(uint8_t flags)
{
    static const size_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    size_t single = flags >> 5 & 1;
    return MAGIC_LEN + 2 - single + dictionary[flags & 3] + (flags >> 6 ? content[flags >> 6] : single);
}

static bool read_frame(struct frame *f, struct span s, size_t *at)
{
    struct span head;
    bool last = false;
    uint8_t flags = (uint8_t)span_number(s, *at + MAGIC_LEN, 1);
    if (!span_part(s, *at, header_size(flags), &head))
        return false;
    *at += head.len;
    f->huffman.log = 0;
    memset(f->has_table, 0, sizeof f->has_table);
    f->recent[0] = 1;
    f->recent[1] = 4;
    f->recent[2] = 8;
    while (!last)
        if (!read_block(f, s, at, &last))
            return false;
    *at += flags & 4 ? CHECKSUM : 0;
    return *at <= s.len;
}

bool unpack_zstd(struct span packed, size_t max, struct unpacked *u)
{
    *u = (struct unpacked){.max = max < UNPACKED_MAX ? max : UNPACKED_MAX};
    struct frame *f = malloc(sizeof *f);
    size_t at = 0;
    bool good = f && packed.len > 0;
    if (f)
        f->out = u;
    while (good && at < packed.len) {
        uint32_t word = span_u32(packed, at);
        if (word == magic)
            good = read_frame(f, packed, &at);
        else if ((word & skip_mask) == magic_skip && packed.len - at >= 8 &&
                 span_u32(packed, at + MAGIC_LEN) <= packed.len - at - 8)
            at += 8 + span_u32(packed, at + MAGIC_LEN);
        else
            good = false;
    }
    free(f);
    return good;
}
