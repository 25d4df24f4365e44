#include "executor/telemetry/sample.h"

#include <math.h>

static const struct {
    const char *key;
    bool whole;
} fields[SAMPLE_FIELDS] = {
    [SAMPLE_RSS] = {"rss", true},
    [SAMPLE_CPU] = {"cpu", false},
    [SAMPLE_VRAM_USED] = {"vram_used", true},
    [SAMPLE_VRAM_PROC] = {"vram_proc", true},
    [SAMPLE_GPU_BUSY] = {"gpu_busy", true},
    [SAMPLE_MEM_BUSY] = {"mem_busy", true},
    [SAMPLE_POWER] = {"power_w", false},
    [SAMPLE_TEMP_JUNCTION] = {"temp_junction_c", false},
    [SAMPLE_TEMP_MEM] = {"temp_mem_c", false},
    [SAMPLE_SCLK] = {"sclk_mhz", true},
    [SAMPLE_SCLK_LOW] = {"sclk_low_mhz", true},
    [SAMPLE_MCLK] = {"mclk_mhz", true},
    [SAMPLE_THROTTLE] = {"throttle", true},
    [SAMPLE_ENERGY] = {"energy_j", false},
    [SAMPLE_NEIGHBOURS] = {"neighbours", true},
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

void sample_add(struct sample *s, enum sample_field field, double value)
{
    s->value[field] = sample_has(s, field) ? s->value[field] + value : value;
}

void sample_max(struct sample *s, enum sample_field field, double value)
{
    s->value[field] = sample_has(s, field) && s->value[field] > value ? s->value[field] : value;
}

void sample_join(struct sample *s, enum sample_field field, unsigned bits)
{
    s->value[field] = (double)(sample_has(s, field) ? (unsigned)s->value[field] | bits : bits);
}
