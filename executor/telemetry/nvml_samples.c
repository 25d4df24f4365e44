/* A back-end: NVIDIA GPUs through the NVML helper. A tick takes the newest sample available, so that it never
 * blocks. */
#include "executor/telemetry/backend.h"
#include "executor/telemetry/nvml.h"
#include "executor/telemetry/throttle.h"

#include <math.h>
#include <stdlib.h>

enum { FRESH_LIMIT_MS = 500 };

static void add_gpus(struct sample *out, const struct nvml_facts *facts)
{
    for (int32_t i = 0; i < facts->gpu_count; i++) {
        const struct nvml_gpu *g = &facts->gpu[i];
        const struct {
            enum sample_field field;
            bool sum;
            double value;
        } parts[] = {{SAMPLE_VRAM_USED, true, g->used_bytes},  {SAMPLE_GPU_BUSY, false, g->busy},
                     {SAMPLE_MEM_BUSY, false, g->mem_busy},    {SAMPLE_POWER, true, g->power_w},
                     {SAMPLE_TEMP_JUNCTION, false, g->temp_c}, {SAMPLE_SCLK, false, g->sm_mhz},
                     {SAMPLE_MCLK, false, g->mem_mhz},         {SAMPLE_ENERGY, true, g->energy_j}};
        if (!isnan(g->event_reasons))
            sample_join(out, SAMPLE_THROTTLE, throttle_of_nvml((uint64_t)g->event_reasons));
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            if (isnan(parts[p].value))
                continue;
            if (parts[p].sum)
                sample_add(out, parts[p].field, parts[p].value);
            else
                sample_max(out, parts[p].field, parts[p].value);
        }
    }
}

static void nvml_read(void *state, struct sample *out)
{
    struct nvml_facts facts;
    if (nvml_latest(state, &facts))
        add_gpus(out, &facts);
}

static void nvml_read_fresh(void *state, struct sample *out)
{
    struct nvml_facts facts;
    if (nvml_fresh(state, FRESH_LIMIT_MS, &facts))
        add_gpus(out, &facts);
}

static double nvml_cpu_s(void *state)
{
    struct nvml_facts facts;
    return nvml_latest(state, &facts) ? facts.cpu_s : 0;
}

static void *nvml_begin(const struct telemetry_target *target)
{
    return target->nvml && target->nvml->ask >= 0 ? target->nvml : NULL;
}

static void nvml_end(void *state)
{
    (void)state; /* borrowed from the suite */
}

const struct telemetry_backend telemetry_nvml = {
    .name = "nvml",
    .open = nvml_begin,
    .read = nvml_read,
    .read_fresh = nvml_read_fresh,
    .cpu_s = nvml_cpu_s,
    .close = nvml_end,
};
