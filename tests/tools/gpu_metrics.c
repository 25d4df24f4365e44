/* gpu_metrics: writes a table as amdgpu's sysfs file gpu_metrics has it. Usage:
 * gpu_metrics VERSION [KEY=VALUE...]
 * gpu_metrics VERSION [KEY=VALUE...] --play FILE BUSY DIVISOR [KEY=VALUE...]
 *
 * The second form overwrites FILE with the table of now, in place, a hundred times a second for a minute or
 * until it is killed. While the file BUSY exists, the keys behind it count. The energy is what `power` makes
 * of the time, divided by DIVISOR; where the table has residencies, the power cap is active half of the busy
 * time.
 *
 * VERSION is 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, or 1.6-384 and 1.8-3360, which are the layouts of these sizes
 * that some driver releases had. What no KEY sets is all ones, as the driver leaves it. The compiler lays the
 * tables out from their members, so that the executor's offsets are held against something else than
 * themselves. Keys: hotspot memory power gfx umc energy sclk mclk accumulations prochot ppt socket vr hbm
 * status partitions; sclk and partition_busy take up to eight numbers with commas between them. The table has
 * the endianness of this machine: little-endian. */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD                                                                                                 \
    uint16_t table_size;                                                                                     \
    uint8_t format, content;
#define HEAD_OF_DIES HEAD uint16_t hotspot, memory, soc_regulator, power, gfx, umc;
#define RESIDENCIES uint32_t accumulations, prochot, ppt, socket, vr, hbm;
#define LINKS                                                                                                \
    uint16_t pcie_width, pcie_speed, xgmi_width, xgmi_speed;                                                 \
    uint32_t gfx_sum, memory_sum;
#define BUS                                                                                                  \
    uint64_t pcie_sum, pcie_now, recoveries, replays, rollovers;                                             \
    uint32_t naks_sent, naks_received;
#define CLOCKS uint16_t sclk[8], socclk[4], vclk[4], dclk[4], mclk;

struct v1_3 {
    HEAD uint16_t edge, hotspot, memory, regulators[3], gfx, umc, media, power;
    uint64_t energy, driver_time;
    uint16_t mean_clocks[7], sclk, socclk, mclk, media_clocks[4];
    uint32_t own_status;
    uint16_t fan, pcie_width, pcie_speed, padding;
    uint32_t gfx_sum, memory_sum;
    uint16_t stacks[4];
    uint64_t firmware_time;
    uint16_t millivolts[3], padding1;
    uint64_t status;
};

struct v1_4 {
    HEAD_OF_DIES uint16_t vcn[4];
    uint64_t energy, driver_time;
    uint32_t own_status, lock_status;
    LINKS uint64_t pcie_sum, pcie_now, recoveries, replays, rollovers, xgmi_read[8], xgmi_written[8],
        firmware_time;
    CLOCKS uint16_t padding;
};

struct v1_5 {
    HEAD_OF_DIES uint16_t vcn[4], jpeg[32];
    uint64_t energy, driver_time;
    uint32_t own_status, lock_status;
    LINKS BUS uint64_t xgmi_read[8], xgmi_written[8], firmware_time;
    CLOCKS uint16_t padding;
};

struct v1_6_384 {
    HEAD_OF_DIES uint16_t vcn[4], jpeg[32];
    uint64_t energy, driver_time;
    RESIDENCIES uint32_t own_status, lock_status;
    LINKS BUS uint64_t xgmi_read[8], xgmi_written[8], firmware_time;
    CLOCKS uint16_t padding;
};

#define PARTITION(jpegs, sums)                                                                               \
    struct {                                                                                                 \
        uint32_t busy[8];                                                                                    \
        uint16_t jpeg[jpegs], vcn[4];                                                                        \
        uint64_t sum[sums][8];                                                                               \
    }

struct v1_6 {
    HEAD_OF_DIES uint64_t energy, driver_time;
    RESIDENCIES uint32_t lock_status;
    LINKS BUS uint64_t xgmi_read[8], xgmi_written[8], firmware_time;
    CLOCKS uint16_t partitions;
    PARTITION(32, 1) partition[8];
    uint32_t recovery;
};

#define VERSION_WITH_BANDWIDTH(name, jpegs, sums)                                                            \
    struct name {                                                                                            \
        HEAD_OF_DIES uint64_t bandwidth, energy, driver_time;                                                \
        RESIDENCIES uint32_t lock_status;                                                                    \
        LINKS BUS uint64_t xgmi_read[8], xgmi_written[8];                                                    \
        uint16_t link_status[8], padding;                                                                    \
        uint64_t firmware_time;                                                                              \
        CLOCKS uint16_t partitions;                                                                          \
        PARTITION(jpegs, sums) partition[8];                                                                 \
        uint32_t recovery;                                                                                   \
    }
VERSION_WITH_BANDWIDTH(v1_7, 32, 2);
VERSION_WITH_BANDWIDTH(v1_8_3360, 40, 4);
VERSION_WITH_BANDWIDTH(v1_8, 40, 5);

/* The entries of 1.9: key, type, how many, and what the word before them says (unit, code of the type, id).
 */
#define ENTRIES_1_9(E)                                                                                       \
    E(hotspot, uint16_t, 1, 2, 2, 0)                                                                         \
    E(memory, uint16_t, 1, 2, 2, 1)                                                                          \
    E(power, uint16_t, 1, 3, 2, 3)                                                                           \
    E(gfx, uint16_t, 1, 10, 2, 4)                                                                            \
    E(umc, uint16_t, 1, 10, 2, 5)                                                                            \
    E(bandwidth, uint64_t, 1, 8, 6, 6)                                                                       \
    E(energy, uint64_t, 1, 0, 6, 7)                                                                          \
    E(accumulations, uint64_t, 1, 0, 6, 9)                                                                   \
    E(prochot, uint64_t, 1, 0, 6, 10)                                                                        \
    E(ppt, uint64_t, 1, 0, 6, 11)                                                                            \
    E(socket, uint64_t, 1, 0, 6, 12)                                                                         \
    E(vr, uint64_t, 1, 0, 6, 13)                                                                             \
    E(hbm, uint64_t, 1, 0, 6, 14)                                                                            \
    E(sclk, uint16_t, 8, 1, 2, 33)                                                                           \
    E(mclk, uint16_t, 1, 1, 2, 37)                                                                           \
    E(partition_busy, uint32_t, 8, 10, 4, 40)
#define AS_MEMBER(key, type, n, unit, code, id)                                                              \
    uint64_t word_##key;                                                                                     \
    type key[n];
struct v1_9 {
    HEAD int32_t entries;
    ENTRIES_1_9(AS_MEMBER)
} __attribute__((packed));

struct member {
    const char *key;
    size_t offset, bytes, count, step;
};

#define ONE(t, key)                                                                                          \
    {                                                                                                        \
#key, offsetof(struct t, key), sizeof(((struct t *)0)->key), 1, 0                                    \
    }
#define MANY(t, key, n)                                                                                      \
    {                                                                                                        \
#key, offsetof(struct t, key), sizeof(((struct t *)0)->key) / (n), n,                                \
            sizeof(((struct t *)0)->key) / (n)                                                               \
    }
#define COMMON(t)                                                                                            \
    ONE(t, hotspot), ONE(t, memory), ONE(t, power), ONE(t, gfx), ONE(t, umc), ONE(t, energy), ONE(t, mclk)
#define COMMON_RESIDENCIES(t)                                                                                \
    ONE(t, accumulations), ONE(t, prochot), ONE(t, ppt), ONE(t, socket), ONE(t, vr), ONE(t, hbm)
#define PARTITIONS(t)                                                                                        \
    ONE(t, partitions),                                                                                      \
    {                                                                                                        \
        "partition_busy", offsetof(struct t, partition), 4, 8, sizeof(((struct t *)0)->partition[0])         \
    }

static const struct member of_v1_3[] = {COMMON(v1_3),      ONE(v1_3, sclk),       MANY(v1_3, stacks, 4),
                                        ONE(v1_3, status), ONE(v1_3, own_status), {0}};
static const struct member of_v1_4[] = {COMMON(v1_4), MANY(v1_4, sclk, 8), ONE(v1_4, own_status), {0}};
static const struct member of_v1_5[] = {COMMON(v1_5), MANY(v1_5, sclk, 8), ONE(v1_5, own_status), {0}};
static const struct member of_v1_6_384[] = {
    COMMON(v1_6_384), MANY(v1_6_384, sclk, 8), COMMON_RESIDENCIES(v1_6_384), {0}};
#define WITH_PARTITIONS(t)                                                                                   \
    {                                                                                                        \
        COMMON(t), MANY(t, sclk, 8), COMMON_RESIDENCIES(t), PARTITIONS(t),                                   \
        {                                                                                                    \
            0                                                                                                \
        }                                                                                                    \
    }
static const struct member of_v1_6[] = WITH_PARTITIONS(v1_6);
static const struct member of_v1_7[] = WITH_PARTITIONS(v1_7);
static const struct member of_v1_8_3360[] = WITH_PARTITIONS(v1_8_3360);
static const struct member of_v1_8[] = WITH_PARTITIONS(v1_8);

#define OF_1_9(key, type, n, unit, code, id)                                                                 \
    {#key, offsetof(struct v1_9, key), sizeof(type), n, sizeof(type)},
static const struct member of_v1_9[] = {ENTRIES_1_9(OF_1_9){0}};

static const struct version {
    const char *name;
    uint8_t content;
    uint16_t size;
    const struct member *member;
} versions[] = {
    {"1.3", 3, sizeof(struct v1_3), of_v1_3},
    {"1.4", 4, sizeof(struct v1_4), of_v1_4},
    {"1.5", 5, sizeof(struct v1_5), of_v1_5},
    {"1.6-384", 6, sizeof(struct v1_6_384), of_v1_6_384},
    {"1.6", 6, sizeof(struct v1_6), of_v1_6},
    {"1.7", 7, sizeof(struct v1_7), of_v1_7},
    {"1.8-3360", 8, sizeof(struct v1_8_3360), of_v1_8_3360},
    {"1.8", 8, sizeof(struct v1_8), of_v1_8},
    {"1.9", 9, sizeof(struct v1_9), of_v1_9},
};

static const struct version *find_version(const char *name)
{
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(versions[i].name, name) == 0)
            return &versions[i];
    return NULL;
}

static const struct member *find_member(const struct version *v, const char *key, size_t len)
{
    for (const struct member *m = v->member; m->key; m++)
        if (len == strlen(m->key) && memcmp(m->key, key, len) == 0)
            return m;
    return NULL;
}

static int set(const struct version *v, unsigned char *table, const char *argument)
{
    size_t len = strcspn(argument, "=");
    const struct member *m = find_member(v, argument, len);
    if (!m || !argument[len]) {
        fprintf(stderr, "gpu_metrics: version %s has no %s\n", v->name, argument);
        return 2;
    }
    char *p = (char *)(uintptr_t)argument + len;
    for (size_t i = 0; i < m->count && *p; i++) {
        uint64_t value = strtoull(p + 1, &p, 0);
        memcpy(table + m->offset + i * m->step, &value, m->bytes);
    }
    return 0;
}

static int set_all(const struct version *v, unsigned char *table, char **arguments, int n)
{
    for (int i = 0; i < n; i++)
        if (set(v, table, arguments[i]) != 0)
            return 2;
    return 0;
}

/* Only where the table has it. */
static void count(const struct version *v, unsigned char *table, const char *key, double value)
{
    const struct member *m = find_member(v, key, strlen(key));
    uint64_t whole = (uint64_t)value;
    if (m)
        memcpy(table + m->offset, &whole, m->bytes);
}

static uint16_t power_of(const struct version *v, const unsigned char *table)
{
    uint16_t power;
    memcpy(&power, table + find_member(v, "power", 5)->offset, sizeof power);
    return power;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct play {
    const struct version *version;
    unsigned char *idle, *busy;
    const char *file, *flag;
    double divisor;
};

static int play(const struct play *p)
{
    enum { STEP_NS = 10000000, LASTS_S = 60 };
    const struct timespec step = {.tv_nsec = STEP_NS};
    double started = seconds(), last = started, joules = 0, busy_s = 0;
    int fd = open(p->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    while (fd >= 0 && last - started < LASTS_S) {
        bool busy = access(p->flag, F_OK) == 0;
        unsigned char *table = busy ? p->busy : p->idle;
        double now = seconds();
        joules += (now - last) * power_of(p->version, table) / p->divisor;
        busy_s += busy ? now - last : 0;
        last = now;
        count(p->version, table, "energy", joules * 65536);
        count(p->version, table, "accumulations", (now - started) * 1000);
        count(p->version, table, "ppt", busy_s * 500);
        if (pwrite(fd, table, p->version->size, 0) != p->version->size)
            return 1;
        nanosleep(&step, NULL);
    }
    return fd < 0 || close(fd) != 0;
}

static void write_words(unsigned char *table)
{
    struct v1_9 *t = (struct v1_9 *)(void *)table;
    t->entries = 0;
#define WRITE(key, type, n, unit, code, id)                                                                  \
    t->word_##key = (uint64_t)(unit) << 24 | (code) << 20 | (id) << 10 | (n);                                \
    t->entries++;
    ENTRIES_1_9(WRITE)
}

static void blank(const struct version *v, unsigned char *table)
{
    memset(table, 0xff, v->size);
    memcpy(table, &v->size, sizeof v->size);
    table[2] = 1;
    table[3] = v->content;
    if (v->member == of_v1_9)
        write_words(table);
}

int main(int argc, char **argv)
{
    static unsigned char table[8192], busy[8192];
    const struct version *v = argc > 1 ? find_version(argv[1]) : NULL;
    int keys = 2;
    if (!v) {
        fprintf(stderr, "gpu_metrics: name a version, as 1.6\n");
        return 2;
    }
    while (keys < argc && strcmp(argv[keys], "--play") != 0)
        keys++;
    blank(v, table);
    if (set_all(v, table, argv + 2, keys - 2) != 0)
        return 2;
    if (keys == argc)
        return fwrite(table, v->size, 1, stdout) == 1 ? 0 : 1;
    if (argc < keys + 4) {
        fprintf(stderr, "gpu_metrics: --play FILE BUSY DIVISOR\n");
        return 2;
    }
    memcpy(busy, table, sizeof busy);
    if (set_all(v, busy, argv + keys + 4, argc - keys - 4) != 0)
        return 2;
    return play(&(struct play){.version = v,
                               .idle = table,
                               .busy = busy,
                               .file = argv[keys + 1],
                               .flag = argv[keys + 2],
                               .divisor = strtod(argv[keys + 3], NULL)});
}
