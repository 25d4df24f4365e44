#include "executor/code/fse.h"

enum { BYTE = 8, LOG_BASE = 5, LOG_BITS = 4, REPEAT_BITS = 2, REPEAT_MORE = 3 };

int fse_log2(uint32_t n)
{
    int log = 0;
    while (n >>= 1)
        log++;
    return log;
}

/* n bits from that bit on; bits outside of the span are 0. */
static uint32_t bits_at(struct span s, int64_t at, int n)
{
    uint64_t value = 0;
    int64_t first = at < 0 ? 0 : at;
    int64_t end = at + n;
    if (end <= first)
        return 0;
    size_t byte = (size_t)first / BYTE, last = (size_t)(end + BYTE - 1) / BYTE;
    for (size_t i = last; i-- > byte;)
        value = value << BYTE | (i < s.len ? s.data[i] : 0);
    value >>= first % BYTE;
    value &= (UINT64_C(1) << (end - first)) - 1;
    return (uint32_t)(value << (first - at));
}

bool fse_bits_open(struct fse_bits *b, struct span s)
{
    if (s.len == 0 || s.data[s.len - 1] == 0)
        return false;
    *b = (struct fse_bits){.s = s, .left = (int64_t)(s.len - 1) * BYTE + fse_log2(s.data[s.len - 1])};
    return true;
}

uint32_t fse_bits_read(struct fse_bits *b, int n)
{
    b->left -= n;
    return b->left <= -64 ? 0 : bits_at(b->s, b->left, n);
}

/* Symbols that are less probable than 1 have the last places; the others are spread. */
static bool spread(struct fse_table *t, const int16_t *probability, int count, uint16_t *next)
{
    uint32_t size = UINT32_C(1) << t->log, high = size, at = 0;
    uint32_t step = (size >> 1) + (size >> 3) + 3, mask = size - 1;
    for (int s = 0; s < count; s++) {
        if (probability[s] != -1)
            continue;
        if (high == 0)
            return false;
        t->symbol[--high] = (uint8_t)s;
        next[s] = 1;
    }
    for (int s = 0; s < count; s++) {
        if (probability[s] <= 0)
            continue;
        next[s] = (uint16_t)probability[s];
        for (int i = 0; i < probability[s]; i++) {
            if (high == 0)
                return false;
            t->symbol[at] = (uint8_t)s;
            do
                at = (at + step) & mask;
            while (at >= high);
        }
    }
    return at == 0;
}

bool fse_build(struct fse_table *t, const int16_t *probability, int count, int log)
{
    uint16_t next[FSE_SYMBOLS_MAX] = {0};
    uint32_t size = UINT32_C(1) << log;
    t->log = log;
    if (!spread(t, probability, count, next))
        return false;
    for (uint32_t i = 0; i < size; i++) {
        uint32_t state = next[t->symbol[i]]++;
        t->bits[i] = (uint8_t)(log - fse_log2(state));
        t->base[i] = (uint16_t)((state << t->bits[i]) - size);
    }
    return true;
}

/* One probability, of a number of bits that depends on what remains. */
static int read_probability(struct span s, int64_t *at, int remaining)
{
    int bits = fse_log2((uint32_t)remaining + 1) + 1;
    int value = (int)bits_at(s, *at, bits), low = (1 << (bits - 1)) - 1;
    int threshold = (1 << bits) - 1 - (remaining + 1);
    *at += bits;
    if ((value & low) < threshold) {
        --*at;
        value &= low;
    } else if (value > low) {
        value -= threshold;
    }
    return value - 1;
}

bool fse_read(struct fse_table *t, struct span s, int log_max, int symbols_max, size_t *used)
{
    int16_t probability[FSE_SYMBOLS_MAX] = {0};
    int64_t at = LOG_BITS, end = (int64_t)s.len * BYTE;
    int log = (int)bits_at(s, 0, LOG_BITS) + LOG_BASE, remaining = 1 << log, count = 0;
    if (log > log_max)
        return false;
    while (remaining > 0 && count < symbols_max && at < end) {
        int p = read_probability(s, &at, remaining);
        remaining -= p < 0 ? 1 : p;
        probability[count++] = (int16_t)p;
        uint32_t repeat = p == 0 ? REPEAT_MORE : 0;
        while (repeat == REPEAT_MORE && at < end) {
            repeat = bits_at(s, at, REPEAT_BITS);
            at += REPEAT_BITS;
            count += (int)repeat; /* they are 0 */
            if (count > symbols_max)
                return false;
        }
    }
    *used = (size_t)(at + BYTE - 1) / BYTE;
    return remaining == 0 && at <= end && fse_build(t, probability, count, log);
}

void fse_single(struct fse_table *t, uint8_t symbol)
{
    t->log = 0;
    t->symbol[0] = symbol;
    t->bits[0] = 0;
    t->base[0] = 0;
}

uint32_t fse_state(const struct fse_table *t, struct fse_bits *b)
{
    return fse_bits_read(b, t->log);
}

uint32_t fse_next(const struct fse_table *t, uint32_t state, struct fse_bits *b)
{
    return t->base[state] + fse_bits_read(b, t->bits[state]);
}
