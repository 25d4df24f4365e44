#include "executor/telemetry/telemetry.h"

#include <math.h>
#include <stddef.h>

static const struct telemetry_backend *const backends[TELEMETRY_BACKENDS] = {
    &telemetry_process_tree,
    &telemetry_amdgpu,
    &telemetry_kfd,
    &telemetry_nvml,
};

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

static void open_some(struct telemetry *t, const struct telemetry_target *target, bool per_test)
{
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (backends[i]->per_test == per_test)
            t->state[i] = backends[i]->open(target);
    }
}

static void close_some(struct telemetry *t, bool per_test)
{
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (backends[i]->per_test != per_test || !t->state[i])
            continue;
        backends[i]->close(t->state[i]);
        t->state[i] = NULL;
    }
}

void telemetry_open(struct telemetry *t, const struct telemetry_target *target)
{
    *t = (struct telemetry){.state = {NULL}};
    open_some(t, target, false);
}

void telemetry_close(struct telemetry *t)
{
    close_some(t, true);
    close_some(t, false);
}

void telemetry_begin(struct telemetry *t, const struct telemetry_target *target)
{
    open_some(t, target, true);
}

void telemetry_end(struct telemetry *t)
{
    close_some(t, true);
}

void telemetry_read(struct telemetry *t, double t_s, struct sample *out)
{
    sample_clear(out, t_s);
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i])
            backends[i]->read(t->state[i], out);
    }
}

void telemetry_read_fresh(struct telemetry *t, struct sample *out)
{
    sample_clear(out, 0);
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i] && backends[i]->read_fresh)
            backends[i]->read_fresh(t->state[i], out);
        else if (t->state[i])
            backends[i]->read(t->state[i], out);
    }
}

double telemetry_cpu_s(const struct telemetry *t)
{
    double sum = 0;
    for (int i = 0; i < TELEMETRY_BACKENDS; i++) {
        if (t->state[i] && backends[i]->cpu_s)
            sum += backends[i]->cpu_s(t->state[i]);
    }
    return sum;
}
