#include "results/store/samples.h"

#include "common/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Format: version 1; count; columns; then per column: length and bytes of its name, flags, [bitmap of the
 * samples that have a value], data. All numbers are varints of 7 bits per byte, low bits first. */
enum {
    FORMAT = 1,
    FLAG_SPARSE = 1, /* has a bitmap */
    FLAG_RAW = 2,    /* plain doubles */
    FLAG_SECOND = 4, /* differences of differences */
    FLAG_RUNS = 8,   /* a 0 is followed by the number of further zeros */
    DECIMALS_MAX = 6,
};

static void put_varint(struct buf *out, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;
    do {
        bytes[n] = (unsigned char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
        n++;
    } while (v);
    buf_add(out, bytes, n);
}

static uint64_t zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Whether all values are multiples of 10^-decimals and restored exactly; fills whole. */
static bool as_integers(const double *values, size_t n, int decimals, int64_t *whole)
{
    double scale = pow(10, decimals);
    for (size_t i = 0; i < n; i++) {
        double scaled = round(values[i] * scale);
        if (!(fabs(scaled) < 0x1p53) || scaled / scale != values[i] || (scaled == 0 && signbit(values[i])))
            return false;
        whole[i] = (int64_t)scaled;
    }
    return true;
}

static void put_differences(struct buf *out, const int64_t *whole, size_t n, int64_t divisor, int flags)
{
    int64_t last = 0, last_step = 0;
    uint64_t zeros = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t v = whole[i] / divisor, step = v - last;
        int64_t token = flags & FLAG_SECOND ? step - last_step : step;
        last = v;
        last_step = step;
        if ((flags & FLAG_RUNS) && token == 0) {
            zeros++;
            continue;
        }
        if (zeros) {
            put_varint(out, 0);
            put_varint(out, zeros - 1);
            zeros = 0;
        }
        put_varint(out, zigzag(token));
    }
    if (zeros) {
        put_varint(out, 0);
        put_varint(out, zeros - 1);
    }
}

/* Writes the shortest of the four encodings and returns its flags. */
static int put_integers(struct buf *out, const int64_t *whole, size_t n, int decimals)
{
    static const int ways[] = {0, FLAG_SECOND, FLAG_RUNS, FLAG_SECOND | FLAG_RUNS};
    int64_t divisor = 0;
    for (size_t i = 0; i < n; i++)
        divisor = common_divisor(divisor, whole[i]);
    divisor = divisor ? divisor : 1;
    AUTO(buf_release) struct buf best = {.max = SIZE_MAX / 2}, other = {.max = SIZE_MAX / 2};
    int chosen = 0;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct buf *into = i ? &other : &best;
        buf_clear(into);
        put_differences(into, whole, n, divisor, ways[i]);
        if (i && other.len < best.len) {
            struct buf swap = best;
            best = other;
            other = swap;
            chosen = ways[i];
        }
    }
    put_varint(out, (uint64_t)decimals);
    put_varint(out, (uint64_t)divisor);
    buf_add(out, best.data ? best.data : "", best.len);
    return chosen;
}

static void put_bitmap(struct buf *out, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        unsigned char bits = 0;
        for (size_t j = i; j < n && j < i + 8; j++)
            bits |= (unsigned char)(isnan(values[j]) ? 0 : 1u << (j - i));
        buf_add(out, &bits, 1);
    }
}

static void put_column(struct buf *out, const struct samples_column *c, size_t count, double *present,
                       int64_t *whole)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(c->values[i]))
            present[n++] = c->values[i];
    int flags = n < count ? FLAG_SPARSE : 0, decimals = 0;
    while (decimals <= DECIMALS_MAX && !as_integers(present, n, decimals, whole))
        decimals++;
    AUTO(buf_release) struct buf data = {.max = SIZE_MAX / 2};
    if (decimals > DECIMALS_MAX) {
        flags |= FLAG_RAW;
        buf_add(&data, present, n * sizeof *present);
    } else
        flags |= put_integers(&data, whole, n, decimals);
    put_varint(out, strlen(c->name));
    buf_puts(out, c->name);
    put_varint(out, (uint64_t)flags);
    if (flags & FLAG_SPARSE)
        put_bitmap(out, c->values, count);
    buf_add(out, data.data ? data.data : "", data.len);
}

void samples_pack(const struct samples *t, struct buf *out)
{
    AUTO_FREE double *present = xmalloc(t->count * sizeof *present);
    AUTO_FREE int64_t *whole = xmalloc(t->count * sizeof *whole);
    put_varint(out, FORMAT);
    put_varint(out, t->count);
    put_varint(out, t->n_columns);
    for (size_t i = 0; i < t->n_columns; i++)
        put_column(out, &t->columns[i], t->count, present, whole);
}

struct reader {
    const unsigned char *p;
    size_t left;
    bool failed;
};

static uint64_t get_varint(struct reader *r)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->left == 0)
            break;
        unsigned char b = *r->p++;
        r->left--;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
    r->failed = true;
    return 0;
}

static const unsigned char *get_bytes(struct reader *r, size_t n)
{
    if (r->failed || n > r->left) {
        r->failed = true;
        return NULL;
    }
    const unsigned char *p = r->p;
    r->p += n;
    r->left -= n;
    return p;
}

/* Untrusted input must not cause undefined behaviour, so this wraps. */
static int64_t add_wrapping(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void get_integers(struct reader *r, double *values, size_t n, uint64_t flags)
{
    uint64_t decimals = get_varint(r);
    uint64_t divisor = get_varint(r);
    if (decimals > DECIMALS_MAX || divisor == 0 || divisor > (uint64_t)1 << 53)
        r->failed = true;
    double scale = pow(10, (double)(decimals <= DECIMALS_MAX ? decimals : 0));
    int64_t last = 0, step = 0;
    uint64_t zeros = 0;
    for (size_t i = 0; i < n && !r->failed; i++) {
        int64_t token = 0;
        if (zeros)
            zeros--;
        else {
            token = unzigzag(get_varint(r));
            if (token == 0 && (flags & FLAG_RUNS))
                zeros = get_varint(r);
        }
        step = flags & FLAG_SECOND ? add_wrapping(step, token) : token;
        last = add_wrapping(last, step);
        values[i] = (double)(int64_t)((uint64_t)last * divisor) / scale;
    }
}

/* Moves the n values at the front to the positions set in the bitmap, from the end. */
static void spread(double *values, size_t count, size_t n, const unsigned char *bits)
{
    for (size_t i = count; i-- > 0;)
        values[i] = bits[i / 8] >> (i % 8) & 1 && n > 0 ? values[--n] : NAN;
}

static size_t bitmap_ones(const unsigned char *bits, size_t count)
{
    size_t ones = 0;
    for (size_t i = 0; i < count; i++)
        ones += bits[i / 8] >> (i % 8) & 1;
    return ones;
}

static void get_column(struct reader *r, struct samples *t)
{
    struct samples_column *c = &t->columns[t->n_columns];
    size_t name_len = get_varint(r);
    const unsigned char *name = name_len < SAMPLES_NAME_MAX ? get_bytes(r, name_len) : NULL;
    if (!name) {
        r->failed = true;
        return;
    }
    c->values = xmalloc(t->count * sizeof *c->values);
    t->n_columns++;
    memcpy(c->name, name, name_len);
    c->name[name_len] = '\0';
    uint64_t flags = get_varint(r);
    const unsigned char *bits = flags & FLAG_SPARSE ? get_bytes(r, (t->count + 7) / 8) : NULL;
    size_t n = bits ? bitmap_ones(bits, t->count) : t->count;
    if (flags & FLAG_RAW) {
        const unsigned char *raw = get_bytes(r, n * sizeof(double));
        if (raw)
            memcpy(c->values, raw, n * sizeof(double));
    } else
        get_integers(r, c->values, n, flags);
    if (bits && !r->failed)
        spread(c->values, t->count, n, bits);
}

int samples_unpack(const void *data, size_t len, struct samples *out, struct err *err)
{
    samples_init(out);
    struct reader r = {data, len, false};
    uint64_t format = get_varint(&r), count = get_varint(&r), columns = get_varint(&r);
    if (format != FORMAT || count > SAMPLES_SAMPLES_MAX || columns > SAMPLES_COLUMNS_MAX)
        r.failed = true;
    out->count = out->capacity = r.failed ? 0 : count;
    for (uint64_t i = 0; i < columns && !r.failed; i++)
        get_column(&r, out);
    if (!r.failed && r.left == 0)
        return 0;
    samples_release(out);
    return err_set(err, ERR_STORAGE, "stored samples are damaged");
}
