/* A back-end: NVIDIA GPUs through the NVML helper. A tick takes the newest sample available, so that it never
 * blocks. */
#include "executor/telemetry/backend.h"
#include "executor/telemetry/nvml.h"
#include "executor/telemetry/throttle.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { FRESH_LIMIT_MS = 500 };

struct nvml_state {
    struct nvml *nvml; /* borrowed from the suite */
    const struct telemetry_gpus *only;
    uint64_t slow_samples;
};

struct part {
    enum sample_field field;
    bool sum; /* over the GPUs; else the greatest */
    double value;
};

static void add_parts(struct sample *out, const struct part *parts, size_t count)
{
    for (size_t p = 0; p < count; p++) {
        if (isnan(parts[p].value))
            continue;
        if (parts[p].sum)
            sample_add(out, parts[p].field, parts[p].value);
        else
            sample_max(out, parts[p].field, parts[p].value);
    }
}

/* Values that the helper read at an earlier tick are no new samples, but hang detection needs the load at
 * each. */
static void add_gpu(struct sample *out, const struct nvml_gpu *g, bool is_new)
{
    const struct part always[] = {{SAMPLE_VRAM_USED, true, g->used_bytes},
                                  {SAMPLE_GPU_BUSY, false, g->busy},
                                  {SAMPLE_MEM_BUSY, false, g->mem_busy}};
    const struct part slow[] = {{SAMPLE_POWER, true, g->power_w},
                                {SAMPLE_TEMP_JUNCTION, false, g->temp_c},
                                {SAMPLE_SCLK, false, g->sm_mhz},
                                {SAMPLE_MCLK, false, g->mem_mhz},
                                {SAMPLE_ENERGY, true, g->energy_j}};
    add_parts(out, always, sizeof always / sizeof *always);
    if (!is_new)
        return;
    add_parts(out, slow, sizeof slow / sizeof *slow);
    if (!isnan(g->event_reasons))
        sample_join(out, SAMPLE_THROTTLE, throttle_of_nvml((uint64_t)g->event_reasons));
}

static void add_gpus(struct nvml_state *s, struct sample *out, const struct nvml_facts *facts)
{
    for (int32_t i = 0; i < facts->gpu_count; i++) {
        const struct nvml_gpu *g = &facts->gpu[i];
        if (telemetry_uses(s->only, g->uuid))
            add_gpu(out, g, facts->slow_samples != s->slow_samples);
    }
    s->slow_samples = facts->slow_samples;
}

static void nvml_read(void *state, struct sample *out)
{
    struct nvml_state *s = state;
    struct nvml_facts facts;
    if (nvml_latest(s->nvml, s, &facts))
        add_gpus(s, out, &facts);
}

static void nvml_read_fresh(void *state, struct sample *out)
{
    struct nvml_state *s = state;
    struct nvml_facts facts;
    if (nvml_fresh(s->nvml, FRESH_LIMIT_MS, &facts))
        add_gpus(s, out, &facts);
}

static double nvml_cpu_s(void *state)
{
    const struct nvml_state *s = state;
    struct nvml_facts facts;
    return nvml_peek(s->nvml, &facts) ? facts.cpu_s : 0;
}

static void *nvml_begin(const struct telemetry_target *target)
{
    bool there = target->nvml && target->nvml->ask >= 0;
    struct nvml_state *s = there ? calloc(1, sizeof *s) : NULL;
    if (s)
        *s = (struct nvml_state){.nvml = target->nvml, .only = target->only};
    return s;
}

static void nvml_end(void *state)
{
    free(state);
}

const struct telemetry_backend telemetry_nvml = {
    .name = "nvml",
    .open = nvml_begin,
    .read = nvml_read,
    .read_fresh = nvml_read_fresh,
    .cpu_s = nvml_cpu_s,
    .close = nvml_end,
};
