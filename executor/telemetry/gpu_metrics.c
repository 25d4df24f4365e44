#include "executor/telemetry/gpu_metrics.h"

#include "executor/telemetry/throttle.h"

#include <math.h>
#include <string.h>

enum { HEAD_BYTES = 16, MEMORY_STACKS = 4 };

static const double energy_unit_j = 1.0 / 65536; /* 15.259 uJ */
static const double active_share = 0.1;

/* Offsets in bytes; 0: the version has no such field. */
static const struct layout_of_table {
    int content;
    uint16_t size;
    uint16_t energy, sclk, dies, mclk;
    uint16_t hbm;       /* temperatures of four stacks */
    uint16_t status;    /* indep_throttle_status */
    uint16_t residency; /* accumulation_counter, then the five residencies */
    uint16_t partitions, partition, partition_bytes;
} layouts[] = {
    /* size, energy, clocks, stacks, status, residency, partitions */
    {3, 120, 24, 54, 1, 58, 88, 112, 0, 0, 0, 0},        {4, 288, 24, 240, 8, 280, 0, 0, 0, 0, 0, 0},
    {5, 360, 88, 312, 8, 352, 0, 0, 0, 0, 0, 0},         {6, 384, 88, 336, 8, 376, 0, 0, 104, 0, 0, 0},
    {6, 1664, 16, 264, 8, 304, 0, 0, 32, 306, 312, 168}, {7, 2208, 24, 296, 8, 336, 0, 0, 40, 338, 344, 232},
    {8, 3360, 24, 296, 8, 336, 0, 0, 40, 338, 344, 376}, {8, 3872, 24, 296, 8, 336, 0, 0, 40, 338, 344, 440},
};

struct table {
    const unsigned char *bytes;
};

/* Reads a little-endian number. Returns false for all ones: the driver does not fill the field. */
static bool get(const struct table *t, size_t offset, size_t bytes, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = bytes; i > 0; i--)
        v = v << 8 | t->bytes[offset + i - 1];
    *out = v;
    return v != (bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1);
}

static double number(const struct table *t, size_t offset, size_t bytes)
{
    uint64_t v;
    return get(t, offset, bytes, &v) ? (double)v : (double)NAN;
}

static void read_head(const struct table *t, struct gpu_metrics *m)
{
    bool old = m->content == 3;
    m->hotspot_c = number(t, old ? 6 : 4, 2);
    m->memory_c = number(t, old ? 8 : 6, 2);
    m->power_w = number(t, old ? 22 : 10, 2);
    m->busy = number(t, old ? 16 : 12, 2);
    m->memory_busy = number(t, old ? 18 : 14, 2);
}

/* A die that is fused off, or belongs to no partition, has no clock. */
static void read_clocks(const struct table *t, const struct layout_of_table *l, struct gpu_metrics *m)
{
    double sum = 0;
    for (size_t i = 0; i < l->dies; i++) {
        double mhz = number(t, l->sclk + 2 * i, 2);
        if (!(mhz > 0))
            continue;
        sum += mhz;
        m->sclk_low_mhz = m->dies++ && m->sclk_low_mhz < mhz ? m->sclk_low_mhz : mhz;
    }
    m->sclk_mhz = sum / m->dies;
    m->mclk_mhz = number(t, l->mclk, 2);
}

static void read_memory_stacks(const struct table *t, const struct layout_of_table *l, struct gpu_metrics *m)
{
    for (size_t i = 0; l->hbm && i < MEMORY_STACKS; i++) {
        double c = number(t, l->hbm + 2 * i, 2);
        if (c > 0 && !(c <= m->memory_c))
            m->memory_c = c;
    }
}

static void read_throttling(const struct table *t, const struct layout_of_table *l, struct gpu_metrics *m)
{
    uint64_t v;
    m->has_status = l->status && get(t, l->status, 8, &m->status);
    if (!l->residency || !get(t, l->residency, 4, &v))
        return;
    m->accumulations = (uint32_t)v;
    m->has_residencies = true;
    for (size_t i = 0; i < GPU_METRICS_RESIDENCIES; i++) {
        m->has_residencies &= get(t, l->residency + 4 + 4 * i, 4, &v);
        m->residency[i] = (uint32_t)v;
    }
}

static void read_partitions(const struct table *t, const struct layout_of_table *l, struct gpu_metrics *m)
{
    uint64_t count;
    if (!l->partitions || !get(t, l->partitions, 2, &count) || count > GPU_METRICS_DIES)
        return;
    m->partitions = (int)count;
    for (size_t p = 0; p < count; p++)
        for (size_t die = 0; die < GPU_METRICS_DIES; die++) {
            double busy = number(t, l->partition + p * l->partition_bytes + 4 * die, 4);
            if (busy <= 100 && !(busy <= m->partition_busy[p]))
                m->partition_busy[p] = busy;
        }
}

static const struct layout_of_table *find_layout(int content, size_t size)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].content == content && layouts[i].size == size)
            return &layouts[i];
    return NULL;
}

static void clear(struct gpu_metrics *m)
{
    *m = (struct gpu_metrics){.power_w = NAN,
                              .hotspot_c = NAN,
                              .memory_c = NAN,
                              .busy = NAN,
                              .memory_busy = NAN,
                              .energy_j = NAN,
                              .sclk_mhz = NAN,
                              .sclk_low_mhz = NAN,
                              .mclk_mhz = NAN,
                              .partitions = -1};
    for (size_t i = 0; i < GPU_METRICS_DIES; i++)
        m->partition_busy[i] = NAN;
}

bool gpu_metrics_read(const void *bytes, size_t len, struct gpu_metrics *out)
{
    const struct table t = {.bytes = bytes};
    clear(out);
    if (len < HEAD_BYTES)
        return false;
    size_t size = (size_t)t.bytes[0] | (size_t)t.bytes[1] << 8;
    out->format = t.bytes[2];
    out->content = t.bytes[3];
    const struct layout_of_table *l = find_layout(out->content, size);
    bool known = out->format == 1 && l && len >= size;
    if (!known && (out->format != 1 || out->content < 4 || out->content > 8))
        return false;
    read_head(&t, out);
    if (!known)
        return true;
    out->energy_j = number(&t, l->energy, 8) * energy_unit_j;
    read_clocks(&t, l, out);
    read_memory_stacks(&t, l, out);
    read_throttling(&t, l, out);
    read_partitions(&t, l, out);
    return true;
}

bool gpu_metrics_throttle(const struct gpu_metrics *before, const struct gpu_metrics *now, unsigned *out)
{
    static const enum throttle reasons[GPU_METRICS_RESIDENCIES] = {
        [RESIDENCY_PROCHOT] = THROTTLE_HARDWARE, [RESIDENCY_POWER] = THROTTLE_POWER,
        [RESIDENCY_SOCKET] = THROTTLE_THERMAL,   [RESIDENCY_REGULATOR] = THROTTLE_REGULATOR,
        [RESIDENCY_MEMORY] = THROTTLE_MEMORY,
    };
    *out = now->has_status ? throttle_of_amdgpu(now->status) : 0;
    if (!before->has_residencies || !now->has_residencies)
        return now->has_status;
    uint32_t time = now->accumulations - before->accumulations; /* the counters wrap */
    for (size_t i = 0; i < GPU_METRICS_RESIDENCIES; i++) {
        uint32_t active = now->residency[i] - before->residency[i];
        if (time > 0 && active <= time && active >= active_share * time)
            *out |= reasons[i];
    }
    return time > 0 || now->has_status;
}
