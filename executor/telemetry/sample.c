#include "executor/telemetry/sample.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { DIGITS_MAX = 24 };

static const double most = 1e15;

/* How the values of several GPUs or processes are joined. */
enum join { SUM, GREATEST, BITS };

static const struct {
    const char *key;
    bool whole;
    enum join join;
} fields[SAMPLE_FIELDS] = {
    [SAMPLE_RSS] = {"rss", true, SUM},
    [SAMPLE_CPU] = {"cpu", false, SUM},
    [SAMPLE_VRAM_USED] = {"vram_used", true, SUM},
    [SAMPLE_VRAM_PROC] = {"vram_proc", true, SUM},
    [SAMPLE_GPU_BUSY] = {"gpu_busy", true, GREATEST},
    [SAMPLE_MEM_BUSY] = {"mem_busy", true, GREATEST},
    [SAMPLE_POWER] = {"power_w", false, SUM},
    [SAMPLE_TEMP_JUNCTION] = {"temp_junction_c", false, GREATEST},
    [SAMPLE_TEMP_MEM] = {"temp_mem_c", false, GREATEST},
    [SAMPLE_SCLK] = {"sclk_mhz", true, GREATEST},
    [SAMPLE_SCLK_LOW] = {"sclk_low_mhz", true, GREATEST},
    [SAMPLE_MCLK] = {"mclk_mhz", true, GREATEST},
    [SAMPLE_THROTTLE] = {"throttle", true, BITS},
    [SAMPLE_ENERGY] = {"energy_j", false, SUM},
    [SAMPLE_NEIGHBOURS] = {"neighbours", true, GREATEST},
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
    s->runnable = false;
    for (int i = 0; i < SAMPLE_FIELDS; i++)
        s->value[i] = NAN;
}

bool sample_has(const struct sample *s, enum sample_field field)
{
    return !isnan(s->value[field]);
}

void sample_put(struct sample *s, enum sample_field field, double value)
{
    double *all = &s->value[field];
    if (isnan(value))
        return;
    if (fields[field].join == SUM && !isnan(*all))
        *all += value;
    else if (fields[field].join == BITS && !isnan(*all))
        *all = (double)((unsigned)*all | (unsigned)value);
    else
        *all = fmax(*all, value); /* which ignores a NaN */
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
