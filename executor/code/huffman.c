#include "executor/code/huffman.h"

#include "executor/code/fse.h"

enum { SYMBOLS_MAX = 256, WEIGHTS_LOG_MAX = 6, WEIGHT_MAX = 11, DIRECT = 128 };

/* Weights that are compressed by two states that take turns. */
static bool decode_weights(struct span s, uint8_t *weight, int *count)
{
    struct fse_table table;
    struct fse_bits bits;
    struct span rest;
    size_t used;
    if (!fse_read(&table, s, WEIGHTS_LOG_MAX, WEIGHT_MAX + 2, &used) || used > s.len ||
        !span_part(s, used, s.len - used, &rest) || !fse_bits_open(&bits, rest))
        return false;
    uint32_t state[2] = {fse_state(&table, &bits), 0};
    state[1] = fse_state(&table, &bits);
    *count = 0;
    for (int turn = 0; *count < SYMBOLS_MAX - 2; turn ^= 1) {
        weight[(*count)++] = table.symbol[state[turn]];
        state[turn] = fse_next(&table, state[turn], &bits);
        if (bits.left < 0) {
            weight[(*count)++] = table.symbol[state[turn ^ 1]];
            return true;
        }
    }
    return false;
}

static bool read_weights(struct span s, uint8_t *weight, int *count, size_t *used)
{
    struct span rest;
    if (s.len == 0)
        return false;
    uint8_t head = s.data[0];
    if (head < DIRECT) {
        *used = 1 + (size_t)head;
        return span_part(s, 1, head, &rest) && decode_weights(rest, weight, count);
    }
    *count = head - (DIRECT - 1);
    *used = 1 + ((size_t)*count + 1) / 2;
    if (!span_part(s, 1, *used - 1, &rest))
        return false;
    for (int i = 0; i < *count; i++)
        weight[i] = i % 2 ? rest.data[i / 2] & 15 : rest.data[i / 2] >> 4;
    return true;
}

/* The weight of the last symbol is what completes the sum to a power of two. */
static bool complete(uint8_t *weight, int *count, int *log)
{
    uint32_t sum = 0;
    for (int i = 0; i < *count; i++) {
        if (weight[i] > WEIGHT_MAX)
            return false;
        sum += weight[i] ? UINT32_C(1) << (weight[i] - 1) : 0;
    }
    if (sum == 0)
        return false;
    *log = fse_log2(sum) + 1;
    uint32_t rest = (UINT32_C(1) << *log) - sum;
    if (*log > HUFFMAN_LOG_MAX || (rest & (rest - 1)) != 0)
        return false;
    weight[(*count)++] = (uint8_t)(fse_log2(rest) + 1);
    return true;
}

/* Codes in the order of weights and, within one, of symbols. */
static bool build(struct huffman *h, const uint8_t *weight, int count, int log)
{
    size_t at = 0, size = (size_t)1 << log;
    for (int w = 1; w <= log; w++) {
        for (int s = 0; s < count; s++) {
            size_t len = (size_t)1 << (w - 1);
            if (weight[s] != w)
                continue;
            if (len > size - at)
                return false;
            memset(h->symbol + at, s, len);
            memset(h->bits + at, log + 1 - w, len);
            at += len;
        }
    }
    h->log = log;
    return at == size;
}

bool huffman_read(struct huffman *h, struct span s, size_t *used)
{
    uint8_t weight[SYMBOLS_MAX];
    int count, log;
    h->log = 0;
    return read_weights(s, weight, &count, used) && count < SYMBOLS_MAX && complete(weight, &count, &log) &&
           build(h, weight, count, log);
}

bool huffman_decode(const struct huffman *h, struct span stream, uint8_t *out, size_t len)
{
    struct fse_bits b;
    uint32_t mask = (UINT32_C(1) << h->log) - 1;
    if (h->log == 0 || !fse_bits_open(&b, stream))
        return false;
    uint32_t state = fse_bits_read(&b, h->log);
    for (size_t i = 0; i < len; i++) {
        if (b.left <= -h->log)
            return false;
        out[i] = h->symbol[state];
        int bits = h->bits[state];
        state = ((state << bits) + fse_bits_read(&b, bits)) & mask;
    }
    return b.left == -h->log;
}
