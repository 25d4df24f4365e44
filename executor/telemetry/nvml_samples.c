/* A back-end: NVIDIA GPUs through the NVML helper. A tick takes the newest sample available, so that it never
 * blocks. */
#include "common/base/alloc.h"
#include "executor/telemetry/backend.h"
#include "executor/telemetry/nvml.h"
#include "executor/telemetry/throttle.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct nvml_state {
    struct nvml *nvml; /* borrowed from the suite */
    const struct telemetry_gpus *only;
    uint64_t slow_samples[NVML_GPUS_MAX]; /* of each GPU, when they were last taken */
    uint64_t request;                     /* 0: none */
    int32_t gpu[NVML_GPUS_MAX];           /* those whose samples are taken */
    size_t gpu_count;
    double since_s; /* from when on the slow values of some of them are awaited; NaN: not */
};

static const double late_s = 0.15;

/* Of several GPUs that are added. */
struct sums {
    struct sample *out;
    unsigned without; /* bits of the sums to which one of them gave nothing */
};

static void add_to_sum(struct sums *s, enum sample_field field, double value)
{
    sample_put(s->out, field, value);
    s->without |= isnan(value) ? 1u << field : 0;
}

/* Values that the helper read at an earlier tick are no new samples, but hang detection needs the load at
 * each. */
static void add_gpu(struct sums *sums, const struct nvml_gpu *g, bool is_new)
{
    struct sample *out = sums->out;
    add_to_sum(sums, SAMPLE_VRAM_USED, g->used_bytes);
    sample_put(out, SAMPLE_GPU_BUSY, g->busy);
    sample_put(out, SAMPLE_MEM_BUSY, g->mem_busy);
    add_to_sum(sums, SAMPLE_POWER, is_new ? g->power_w : (double)NAN);
    if (!is_new)
        return;
    sample_put(out, SAMPLE_TEMP_JUNCTION, g->temp_c);
    sample_put(out, SAMPLE_SCLK, g->sm_mhz);
    sample_put(out, SAMPLE_MCLK, g->mem_mhz);
    if (!isnan(g->event_reasons))
        sample_put(out, SAMPLE_THROTTLE, throttle_of_nvml((uint64_t)g->event_reasons));
}

/* The slow values of several GPUs are taken together, or one tick would have the clock of the idle one alone.
 * Reading them takes some milliseconds each; one that answers no more does not hold the others up for long.
 */
static bool takes_slow(struct nvml_state *s, const struct nvml_facts *facts, double t_s)
{
    size_t used = 0, new = 0;
    for (int32_t i = 0; i < facts->gpu_count; i++) {
        bool own = telemetry_uses(s->only, facts->gpu[i].uuid);
        used += own;
        new += own && facts->gpu[i].slow_samples != s->slow_samples[i];
    }
    bool some = new > 0 && new < used;
    if (some && !(t_s >= s->since_s)) /* t_s restarts at 0 with each test */
        s->since_s = t_s;
    bool takes = new == used || (some && t_s >= s->since_s + late_s);
    if (takes || !some)
        s->since_s = NAN;
    return takes;
}

/* fresh: everything in the facts is new, including the energy. A test's first tick takes these values, too.
 */
static void add_gpus(struct nvml_state *s, struct sample *out, const struct nvml_facts *facts, bool fresh)
{
    struct sums sums = {.out = out};
    bool slow = fresh || takes_slow(s, facts, out->t_s);
    for (int32_t i = 0; i < facts->gpu_count; i++) {
        const struct nvml_gpu *g = &facts->gpu[i];
        if (!telemetry_uses(s->only, g->uuid))
            continue;
        add_gpu(&sums, g, fresh || (slow && g->slow_samples != s->slow_samples[i]));
        if (fresh)
            add_to_sum(&sums, SAMPLE_ENERGY, g->energy_j);
        else if (slow)
            s->slow_samples[i] = g->slow_samples;
    }
    sample_end_sums(out, sums.without);
}

static void nvml_read(void *state, struct sample *out)
{
    struct nvml_state *s = state;
    struct nvml_facts facts;
    if (nvml_latest(s->nvml, s, &facts))
        add_gpus(s, out, &facts, false);
}

/* Asks only for its own GPUs, since reading the energy of one takes milliseconds. */
static void nvml_begin_fresh(void *state)
{
    struct nvml_state *s = state;
    s->request = nvml_ask(s->nvml, s->gpu, s->gpu_count);
}

static bool nvml_is_fresh(void *state)
{
    const struct nvml_state *s = state;
    return s->request == 0 || nvml_answered(s->nvml, s->request, s->gpu, s->gpu_count);
}

static void nvml_read_fresh(void *state, struct sample *out)
{
    struct nvml_state *s = state;
    struct nvml_facts facts;
    if (s->request > 0 && nvml_is_fresh(s) && nvml_peek(s->nvml, &facts))
        add_gpus(s, out, &facts, true);
}

/* Several GPUs note their power at moments of their own. */
static double watts_near(const struct nvml_sample *s, double at_s)
{
    const struct nvml_power *near = NULL;
    for (int32_t i = 0; i < s->power_count; i++)
        if (!near || fabs(s->power[i].at_s - at_s) < fabs(near->at_s - at_s))
            near = &s->power[i];
    return near && sample_is_plausible(SAMPLE_POWER, near->watts) ? near->watts : (double)NAN;
}

static void take_moments(struct power_trace *out, const struct nvml_sample *first)
{
    for (int32_t i = 0; i < first->power_count && out->count < POWER_TRACE_MAX; i++) {
        out->reading[out->count].at_s = first->power[i].at_s;
        out->reading[out->count++].watts = 0;
    }
}

static void nvml_trace(void *state, struct power_trace *out)
{
    const struct nvml_state *s = state;
    struct nvml_sample one;
    for (size_t g = 0; g < s->gpu_count; g++) {
        if (!nvml_peek_one(s->nvml, s->gpu[g], &one))
            one.power_count = 0;
        if (g == 0)
            take_moments(out, &one);
        for (size_t i = 0; i < out->count; i++)
            out->reading[i].watts += watts_near(&one, out->reading[i].at_s);
    }
}

static double nvml_cpu_s(void *state)
{
    const struct nvml_state *s = state;
    struct nvml_facts facts;
    return nvml_peek(s->nvml, &facts) ? facts.cpu_s : 0;
}

/* A tick of any lane asks for the GPUs of all lanes. */
static void choose_gpus(struct nvml_state *s)
{
    struct nvml_facts facts;
    bool known = nvml_peek(s->nvml, &facts);
    for (int32_t i = 0; known && i < facts.gpu_count; i++) {
        if (!telemetry_uses(s->only, facts.gpu[i].uuid))
            continue;
        s->gpu[s->gpu_count++] = i;
        s->nvml->used |= UINT32_C(1) << i;
    }
}

static void *nvml_begin(const struct telemetry_target *target)
{
    if (!target->nvml || target->nvml->ask < 0)
        return NULL;
    struct nvml_state *s = xmalloc(sizeof *s);
    *s = (struct nvml_state){.nvml = target->nvml, .only = target->only, .since_s = NAN};
    choose_gpus(s);
    return s;
}

const struct telemetry_backend telemetry_nvml = {
    .name = "nvml",
    .open = nvml_begin,
    .read = nvml_read,
    .ask = nvml_begin_fresh,
    .answered = nvml_is_fresh,
    .read_fresh = nvml_read_fresh,
    .trace = nvml_trace,
    .cpu_s = nvml_cpu_s,
    .close = free,
};
