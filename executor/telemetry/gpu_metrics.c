#include "executor/telemetry/gpu_metrics.h"

#include "executor/telemetry/sample.h"
#include "executor/telemetry/throttle.h"

#include <math.h>
#include <string.h>

enum { HEAD_BYTES = 16, MEMORY_STACKS = 4 };

static const double energy_unit_j = 1.0 / 65536; /* 15.259 uJ */
static const double active_share = 0.1, busy_percent = 10;

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

static uint64_t most_of(size_t bytes)
{
    return bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
}

/* Reads a little-endian number. Returns false for all ones: the driver does not fill the field. */
static bool get(const struct table *t, size_t offset, size_t bytes, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = bytes; i > 0; i--)
        v = v << 8 | t->bytes[offset + i - 1];
    *out = v;
    return v != most_of(bytes);
}

static double number(const struct table *t, size_t offset, size_t bytes)
{
    uint64_t v;
    return get(t, offset, bytes, &v) ? (double)v : (double)NAN;
}

static void take_counter(const struct table *t, size_t offset, size_t bytes, struct gpu_counter *out)
{
    *out = (struct gpu_counter){.most = 0};
    if (get(t, offset, bytes, &out->value))
        out->most = most_of(bytes);
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
static void add_clock(struct gpu_metrics *m, double mhz)
{
    if (!sample_is_plausible(SAMPLE_SCLK, mhz))
        return;
    m->sclk_low_mhz = m->dies > 0 && m->sclk_low_mhz < mhz ? m->sclk_low_mhz : mhz;
    m->sclk_mhz = ((m->dies > 0 ? m->sclk_mhz * m->dies : 0) + mhz) / (m->dies + 1);
    m->dies++;
}

static void read_clocks(const struct table *t, const struct layout_of_table *l, struct gpu_metrics *m)
{
    for (size_t i = 0; i < l->dies; i++)
        add_clock(m, number(t, l->sclk + 2 * i, 2));
    m->mclk_mhz = number(t, l->mclk, 2);
}

static void add_memory_c(struct gpu_metrics *m, double c)
{
    if (sample_is_plausible(SAMPLE_TEMP_MEM, c) && !(c <= m->memory_c))
        m->memory_c = c;
}

static void read_memory_stacks(const struct table *t, const struct layout_of_table *l, struct gpu_metrics *m)
{
    for (size_t i = 0; l->hbm && i < MEMORY_STACKS; i++)
        add_memory_c(m, number(t, l->hbm + 2 * i, 2));
}

static void read_throttling(const struct table *t, const struct layout_of_table *l, struct gpu_metrics *m)
{
    m->has_status = l->status && get(t, l->status, 8, &m->status);
    if (!l->residency)
        return;
    take_counter(t, l->residency, 4, &m->accumulations);
    for (size_t i = 0; i < GPU_METRICS_RESIDENCIES; i++)
        take_counter(t, l->residency + 4 + 4 * i, 4, &m->residency[i]);
}

static void add_busy(struct gpu_metrics *m, size_t partition, double busy)
{
    if (partition < GPU_METRICS_DIES && sample_is_plausible(SAMPLE_GPU_BUSY, busy) &&
        !(busy <= m->partition_busy[partition]))
        m->partition_busy[partition] = busy;
}

static void read_partitions(const struct table *t, const struct layout_of_table *l, struct gpu_metrics *m)
{
    uint64_t count;
    if (!l->partitions || !get(t, l->partitions, 2, &count) || count > GPU_METRICS_DIES)
        return;
    m->partitions = (int)count;
    for (size_t p = 0; p < count; p++)
        for (size_t die = 0; die < GPU_METRICS_DIES; die++)
            add_busy(m, p, number(t, l->partition + p * l->partition_bytes + 4 * die, 4));
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

/* What an entry of 1.9 is of, and in which unit; 0 is "none", which a driver may say of any. */
enum { UNIT_NONE = 0, UNIT_MHZ = 1, UNIT_C = 2, UNIT_W = 3, UNIT_PERCENT = 10 };
enum {
    ID_HOTSPOT = 0,
    ID_MEMORY = 1,
    ID_POWER = 3,
    ID_BUSY = 4,
    ID_MEMORY_BUSY = 5,
    ID_ENERGY = 7,
    ID_ACCUMULATIONS = 9,
    ID_RESIDENCY = 10, /* the first of five */
    ID_SCLK = 33,
    ID_MCLK = 37,
    ID_PARTITIONS = 38,
    ID_DIE_BUSY = 40,
    ID_STACKS = 48, /* temperatures of the memory's stacks */
};

struct entry {
    unsigned id, unit, type, count;
    size_t bytes, at; /* of one value; of the first */
};

/* Types go U8 S8 U16 S16 U32 S32 U64 S64. A negative number is none of what is read here. */
static double value_of(const struct table *t, const struct entry *e, size_t i)
{
    uint64_t v;
    bool is_signed = e->type % 2 == 1, given = get(t, e->at + i * e->bytes, e->bytes, &v);
    return given && !(is_signed && v > most_of(e->bytes) >> 1) ? (double)v : (double)NAN;
}

static double greatest(const struct table *t, const struct entry *e, enum sample_field field)
{
    double most = NAN;
    for (size_t i = 0; i < e->count; i++) {
        double v = value_of(t, e, i);
        most = sample_is_plausible(field, v) && !(v <= most) ? v : most;
    }
    return most;
}

static unsigned unit_of(unsigned id)
{
    switch (id) {
    case ID_HOTSPOT:
    case ID_MEMORY:
    case ID_STACKS:
        return UNIT_C;
    case ID_POWER:
        return UNIT_W;
    case ID_SCLK:
    case ID_MCLK:
        return UNIT_MHZ;
    case ID_BUSY:
    case ID_MEMORY_BUSY:
    case ID_DIE_BUSY:
        return UNIT_PERCENT;
    default:
        return UNIT_NONE;
    }
}

static void take_residency(const struct table *t, const struct entry *e, struct gpu_metrics *m)
{
    unsigned which = e->id - ID_RESIDENCY;
    if (e->id >= ID_RESIDENCY && which < GPU_METRICS_RESIDENCIES)
        take_counter(t, e->at, e->bytes, &m->residency[which]);
}

static void take_entry(const struct table *t, const struct entry *e, struct gpu_metrics *m)
{
    switch (e->id) {
    case ID_HOTSPOT:
        m->hotspot_c = value_of(t, e, 0);
        break;
    case ID_MEMORY:
    case ID_STACKS:
        add_memory_c(m, greatest(t, e, SAMPLE_TEMP_MEM));
        break;
    case ID_POWER:
        m->power_w = value_of(t, e, 0);
        break;
    case ID_BUSY:
        m->busy = value_of(t, e, 0);
        break;
    case ID_MEMORY_BUSY:
        m->memory_busy = value_of(t, e, 0);
        break;
    case ID_ENERGY:
        m->energy_j = value_of(t, e, 0) * energy_unit_j;
        break;
    case ID_ACCUMULATIONS:
        take_counter(t, e->at, e->bytes, &m->accumulations);
        break;
    case ID_SCLK:
        for (size_t i = 0; i < e->count; i++)
            add_clock(m, value_of(t, e, i));
        break;
    case ID_MCLK:
        m->mclk_mhz = greatest(t, e, SAMPLE_MCLK);
        break;
    case ID_PARTITIONS:
        m->partitions = value_of(t, e, 0) <= GPU_METRICS_DIES ? (int)value_of(t, e, 0) : -1;
        break;
    case ID_DIE_BUSY:
        for (size_t i = 0; i < e->count; i++)
            add_busy(m, i, value_of(t, e, i));
        break;
    default: /* most of the hundred others are of no use here */
        take_residency(t, e, m);
    }
}

/* An entry is a word that says what it is (unit, type, id, count from the top), and its values. */
static bool next_entry(const struct table *t, size_t len, size_t *at, struct entry *e)
{
    enum { WORD = 8, TYPES = 8 };
    uint64_t word;
    if (len - *at < WORD)
        return false;
    (void)get(t, *at, WORD, &word);
    *e = (struct entry){.unit = word >> 24 & 0xff,
                        .type = word >> 20 & 0xf,
                        .id = word >> 10 & 0x3ff,
                        .count = word & 0x3ff,
                        .at = *at + WORD};
    e->bytes = (size_t)1 << e->type / 2;
    if (word >> 32 || e->type >= TYPES || e->count * e->bytes > len - e->at)
        return false;
    *at = e->at + e->count * e->bytes;
    return true;
}

/* Returns false if there is no entry. A table that was cut is read as far as it goes. */
static bool read_entries(const struct table *t, size_t len, struct gpu_metrics *m)
{
    enum { COUNT_AT = 4, ENTRIES_AT = 8 };
    uint64_t count;
    size_t at = ENTRIES_AT, read = 0;
    struct entry e;
    if (len < ENTRIES_AT || !get(t, COUNT_AT, 4, &count) || count > INT32_MAX)
        return false;
    for (; read < count && next_entry(t, len, &at, &e); read++) {
        if (e.count > 0 && (e.unit == UNIT_NONE || e.unit == unit_of(e.id)))
            take_entry(t, &e, m);
    }
    m->whole = read == count && len - at < sizeof(uint64_t);
    return read > 0;
}

static bool read_layout(const struct table *t, size_t len, size_t size, struct gpu_metrics *m)
{
    const struct layout_of_table *l = find_layout(m->content, size);
    m->whole = l && len >= size;
    if (len < HEAD_BYTES || (!m->whole && (m->content < 4 || m->content > 8)))
        return false;
    read_head(t, m);
    if (!l || !m->whole)
        return true;
    m->energy_j = number(t, l->energy, 8) * energy_unit_j;
    read_clocks(t, l, m);
    read_memory_stacks(t, l, m);
    read_throttling(t, l, m);
    read_partitions(t, l, m);
    return true;
}

bool gpu_metrics_read(const void *bytes, size_t len, struct gpu_metrics *out)
{
    enum { VERSION_BYTES = 4, CONTENT_OF_ENTRIES = 9 };
    const struct table t = {.bytes = bytes};
    clear(out);
    if (len < VERSION_BYTES)
        return false;
    size_t size = (size_t)t.bytes[0] | (size_t)t.bytes[1] << 8;
    out->format = t.bytes[2];
    out->content = t.bytes[3];
    if (out->format != 1)
        return false;
    if (out->content == CONTENT_OF_ENTRIES)
        return read_entries(&t, size < len ? size : len, out);
    return read_layout(&t, len, size, out);
}

/* Gives by how much a counter increased. Returns false if that is unknown. */
static bool increase(const struct gpu_counter *before, const struct gpu_counter *now, uint64_t *out)
{
    *out = now->value - before->value;
    *out &= now->most;
    return now->most > 0 && now->most == before->most;
}

/* What the counters say of the time between two readings. */
struct residencies {
    uint64_t time, active[GPU_METRICS_RESIDENCIES];
    size_t known, whole, alike; /* counters: of known increase; active all the time; as long as the first */
    bool wrong;                 /* one was active for longer than the time */
};

static void survey(const struct gpu_metrics *before, const struct gpu_metrics *now, struct residencies *r)
{
    *r = (struct residencies){.time = 0};
    if (!increase(&before->accumulations, &now->accumulations, &r->time))
        r->time = 0;
    for (size_t i = 0; i < GPU_METRICS_RESIDENCIES; i++) {
        bool known = increase(&before->residency[i], &now->residency[i], &r->active[i]);
        r->active[i] = known ? r->active[i] : 0;
        r->known += known;
        r->wrong |= r->active[i] > r->time;
        r->whole += known && r->active[i] == r->time;
        r->alike += known && r->active[i] > 0 && r->active[i] == r->active[0];
    }
}

/* Some firmware counts every throttler along with the time while the card rests. */
static bool is_believable(const struct residencies *r, double busy)
{
    bool rests = !(busy >= busy_percent);
    return r->time > 0 && !r->wrong && r->alike < GPU_METRICS_RESIDENCIES && !(rests && r->whole > 1);
}

bool gpu_metrics_throttle(const struct gpu_metrics *before, const struct gpu_metrics *now, unsigned *out)
{
    static const enum throttle reasons[GPU_METRICS_RESIDENCIES] = {
        [RESIDENCY_PROCHOT] = THROTTLE_HARDWARE, [RESIDENCY_POWER] = THROTTLE_POWER,
        [RESIDENCY_SOCKET] = THROTTLE_THERMAL,   [RESIDENCY_REGULATOR] = THROTTLE_REGULATOR,
        [RESIDENCY_MEMORY] = THROTTLE_MEMORY,
    };
    struct residencies r;
    survey(before, now, &r);
    *out = now->has_status ? throttle_of_amdgpu(now->status) : 0;
    if (!is_believable(&r, now->busy))
        return now->has_status;
    for (size_t i = 0; i < GPU_METRICS_RESIDENCIES; i++)
        if ((double)r.active[i] >= active_share * (double)r.time)
            *out |= reasons[i];
    return *out != 0 || r.known == GPU_METRICS_RESIDENCIES || now->has_status;
}
