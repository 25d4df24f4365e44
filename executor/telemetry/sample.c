#include "executor/telemetry/sample.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { DIGITS_MAX = 24 };

static const double most = 1e15;

/* How the values of several GPUs or processes are joined. */
enum join { SUM, GREATEST, BITS };

#define TIB (1024.0 * (1 << 30))

/* The limits are of one GPU or process, and far beyond any that is built. */
static const struct { // NOLINT(clang-analyzer-optin.performance.Padding): the order that a row reads best in
    const char *key;
    bool whole;
    enum join join;
    double most;
    bool above_zero; /* 0 is what a driver says that does not know */
} fields[SAMPLE_FIELDS] = {
    [SAMPLE_RSS] = {"rss", true, SUM, 1024 * TIB, false},
    [SAMPLE_CPU] = {"cpu", false, SUM, 1e9, false},
    [SAMPLE_VRAM_USED] = {"vram_used", true, SUM, 64 * TIB, false},
    [SAMPLE_VRAM_PROC] = {"vram_proc", true, SUM, 64 * TIB, false},
    [SAMPLE_GPU_BUSY] = {"gpu_busy", true, GREATEST, 100, false},
    [SAMPLE_MEM_BUSY] = {"mem_busy", true, GREATEST, 100, false},
    [SAMPLE_POWER] = {"power_w", false, SUM, 5000, true},
    [SAMPLE_TEMP_JUNCTION] = {"temp_junction_c", false, GREATEST, 200, true},
    [SAMPLE_TEMP_MEM] = {"temp_mem_c", false, GREATEST, 200, true},
    [SAMPLE_SCLK] = {"sclk_mhz", true, GREATEST, 10000, true},
    [SAMPLE_SCLK_LOW] = {"sclk_low_mhz", true, GREATEST, 10000, true},
    [SAMPLE_MCLK] = {"mclk_mhz", true, GREATEST, 30000, true},
    [SAMPLE_THROTTLE] = {"throttle", true, BITS, 255, false},
    [SAMPLE_ENERGY] = {"energy_j", false, SUM, 1e13, false},
    [SAMPLE_NEIGHBOURS] = {"neighbours", true, GREATEST, 1e6, false},
};

const char *sample_key(enum sample_field field)
{
    return fields[field].key;
}

bool sample_is_whole_number(enum sample_field field)
{
    return fields[field].whole;
}

void sample_clear(struct sample *s, double t_s)
{
    s->t_s = t_s;
    s->runnable = s->noted = false;
    s->resumed_s = 0;
    s->lost = 0;
    for (int i = 0; i < SAMPLE_FIELDS; i++)
        s->value[i] = NAN;
}

bool sample_has(const struct sample *s, enum sample_field field)
{
    return !isnan(s->value[field]);
}

bool sample_is_plausible(enum sample_field field, double value)
{
    return value >= 0 && value <= fields[field].most && (value > 0 || !fields[field].above_zero);
}

/* A sum that lacks a part is no sum. 0 of what cannot be 0 is only left out: of the two dies of an MI250X,
 * one has the power of both and the other 0 W. */
static void lose(struct sample *s, enum sample_field field, double value)
{
    if (value == 0)
        return;
    s->lost |= 1u << field;
    if (fields[field].join == SUM)
        s->value[field] = NAN;
}

void sample_put(struct sample *s, enum sample_field field, double value)
{
    double *all = &s->value[field];
    bool is_sum = fields[field].join == SUM;
    if (isnan(value) || (is_sum && s->lost >> field & 1))
        return;
    if (!sample_is_plausible(field, value))
        lose(s, field, value);
    else if (is_sum && !isnan(*all))
        *all += value;
    else if (fields[field].join == BITS && !isnan(*all))
        *all = (double)((unsigned)*all | (unsigned)value);
    else
        *all = fmax(*all, value); /* which ignores a NaN */
}

void sample_end_sums(struct sample *s, unsigned without)
{
    for (int i = 0; i < SAMPLE_FIELDS; i++)
        if ((without >> i & 1) && fields[i].join == SUM && sample_has(s, (enum sample_field)i))
            lose(s, (enum sample_field)i, NAN);
}

/* units: multiples of 1 / 10^decimals. A fraction keeps at least one digit. */
static void put_number(struct buf *out, int64_t units, int decimals)
{
    char text[DIGITS_MAX];
    size_t at = sizeof text;
    uint64_t left = units < 0 ? 0 - (uint64_t)units : (uint64_t)units;
    for (; decimals > 1 && left % 10 == 0; decimals--)
        left /= 10;
    for (int i = 0; i < decimals; i++, left /= 10)
        text[--at] = (char)('0' + left % 10);
    if (decimals > 0)
        text[--at] = '.';
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (units < 0)
        text[--at] = '-';
    buf_add(out, text + at, sizeof text - at);
}

static void put_key(struct buf *out, const char *key)
{
    buf_add(out, "\"", 1);
    buf_add(out, key, strlen(key));
    buf_add(out, "\":", 2);
}

static bool is_given(const struct sample *s, enum sample_field field)
{
    return sample_has(s, field) && fabs(s->value[field]) < most;
}

void sample_row_add(struct buf *out, const struct sample *s)
{
    buf_putc(out, '{');
    put_key(out, "t");
    put_number(out, isfinite(s->t_s) && fabs(s->t_s) < most ? llround(s->t_s * 1e4) : 0, 4);
    for (int i = 0; i < SAMPLE_FIELDS; i++) {
        enum sample_field f = (enum sample_field)i;
        if (!is_given(s, f))
            continue;
        buf_putc(out, ',');
        put_key(out, sample_key(f));
        if (sample_is_whole_number(f))
            put_number(out, (int64_t)s->value[i], 0);
        else
            put_number(out, llround(s->value[i] * 1e2), 2);
    }
    buf_add(out, "}\n", 2);
}
