/* gpu_metrics: every layout of amdgpu's table is read to its members, sizes that no layout has only to the
 * head, and residencies become reasons to throttle. The tables are constructed
 * (tests/fixtures/gpu_metrics/README.md). */
#include "tests/unit/support.h"

#include "executor/telemetry/gpu_metrics.h"
#include "executor/telemetry/throttle.h"

static const char *const layouts[] = {"v1_3", "v1_4", "v1_5",      "v1_6_384",
                                      "v1_6", "v1_7", "v1_8_3360", "v1_8"};

struct table {
    unsigned char bytes[GPU_METRICS_BYTES_MAX];
    size_t len;
};

static struct table load(const char *name)
{
    struct table t;
    char path[256];
    snprintf(path, sizeof path, "tests/fixtures/gpu_metrics/%s", name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    t.len = fread(t.bytes, 1, sizeof t.bytes, f);
    fclose(f);
    return t;
}

static struct gpu_metrics read_table(const struct table *t)
{
    struct gpu_metrics m;
    assert_true(gpu_metrics_read(t->bytes, t->len, &m));
    return m;
}

TEST(every_layout_has_power_temperatures_clocks_and_energy)
{
    for (size_t i = 0; i < COUNT(layouts); i++) {
        struct table t = load(layouts[i]);
        struct gpu_metrics m = read_table(&t);
        bool old = m.content == 3;
        assert_int_equal(m.format, 1);
        assert_near(m.power_w, 412, 0);
        assert_near(m.hotspot_c, 63, 0);
        assert_near(m.memory_c, old ? 52 : 51, 0);
        assert_near(m.busy, 98, 0);
        assert_near(m.memory_busy, 37, 0);
        assert_near(m.energy_j, 100, 1e-9);
        assert_near(m.mclk_mhz, 1300, 0);
        assert_int_equal(m.dies, old ? 1 : 8);
        assert_near(m.sclk_mhz, old ? 1700 : 2085, 1e-9);
        assert_near(m.sclk_low_mhz, old ? 1700 : 1980, 0);
    }
}

TEST(partitions_are_read_from_1_6_on)
{
    for (size_t i = 0; i < COUNT(layouts); i++) {
        struct table t = load(layouts[i]);
        struct gpu_metrics m = read_table(&t);
        bool has = t.len > 1000;
        assert_int_equal(m.partitions, has ? 2 : -1);
        assert_true(has ? m.partition_busy[0] == 97 && m.partition_busy[1] == 12
                        : isnan(m.partition_busy[0]));
        assert_true(isnan(m.partition_busy[2]));
    }
}

TEST(throttling_is_unknown_where_the_driver_does_not_report_it)
{
    for (size_t i = 0; i < COUNT(layouts); i++) {
        struct table t = load(layouts[i]);
        struct gpu_metrics m = read_table(&t);
        unsigned reasons;
        assert_int_equal(m.has_status, m.content == 3);
        assert_int_equal(m.accumulations.most > 0, m.content > 5);
        assert_int_equal(gpu_metrics_throttle(&m, &m, &reasons), m.content == 3);
        if (m.content == 3)
            assert_int_equal(reasons, THROTTLE_POWER | THROTTLE_THERMAL);
    }
}

/* An interval of `time` in which each throttler was active for so long, on a card with that load. */
static bool throttle_of(uint64_t most, uint64_t time, const uint64_t *active, double busy, unsigned *reasons)
{
    struct gpu_metrics before = {.accumulations = {most - 49, most}}, now = {.busy = busy};
    now.accumulations = (struct gpu_counter){(before.accumulations.value + time) & most, most};
    for (size_t i = 0; i < GPU_METRICS_RESIDENCIES; i++) {
        before.residency[i] = (struct gpu_counter){most - 29, most}; /* the counters wrap */
        now.residency[i] = (struct gpu_counter){(most - 29 + active[i]) & most, most};
    }
    return gpu_metrics_throttle(&before, &now, reasons);
}

TEST(a_tenth_of_the_time_is_throttling)
{
    static const uint64_t some[] = {0, 60, 9, 0, 10};
    unsigned reasons;
    assert_true(throttle_of(UINT32_MAX, 100, some, 98, &reasons));
    assert_int_equal(reasons, THROTTLE_POWER | THROTTLE_MEMORY);
    assert_true(throttle_of(UINT64_MAX, 100, some, 98, &reasons));
    assert_int_equal(reasons, THROTTLE_POWER | THROTTLE_MEMORY);
    const struct gpu_metrics never = {.accumulations = {.most = 0}}, now = {.accumulations = {1, UINT32_MAX}};
    assert_false(gpu_metrics_throttle(&never, &now, &reasons));
}

/* Recorded in the field: version 1.6 of an MI300X at 120 W had all residencies equal to the accumulations. */
TEST(counters_that_cannot_be_right_tell_nothing)
{
    static const uint64_t none[5] = {0}, all[] = {100, 100, 100, 100, 100}, alike[] = {40, 40, 40, 40, 40},
                          two[] = {0, 100, 100, 0, 0}, power[] = {0, 100, 0, 0, 0},
                          more[] = {0, 101, 0, 0, 0};
    unsigned reasons;
    assert_false(throttle_of(UINT32_MAX, 100, all, 0, &reasons));
    assert_int_equal(reasons, 0);
    assert_false(throttle_of(UINT32_MAX, 100, all, 98, &reasons));
    assert_false(throttle_of(UINT32_MAX, 100, alike, 98, &reasons));
    assert_false(throttle_of(UINT32_MAX, 100, two, 2, &reasons));
    assert_false(throttle_of(UINT32_MAX, 100, two, NAN, &reasons));
    assert_false(throttle_of(UINT32_MAX, 100, more, 98, &reasons));
    assert_false(throttle_of(UINT32_MAX, 0, none, 98, &reasons)); /* they stand still */
    assert_true(throttle_of(UINT32_MAX, 100, two, 98, &reasons));
    assert_int_equal(reasons, THROTTLE_POWER | THROTTLE_THERMAL);
    assert_true(throttle_of(UINT32_MAX, 100, power, 98, &reasons));
    assert_true(throttle_of(UINT32_MAX, 100, none, 0, &reasons));
    assert_int_equal(reasons, 0);
}

TEST(another_size_is_read_only_to_its_head)
{
    struct table t = load("v1_7");
    t.bytes[0] += 8;
    t.len += 8;
    struct gpu_metrics m = read_table(&t);
    assert_near(m.power_w, 412, 0);
    assert_near(m.hotspot_c, 63, 0);
    assert_true(isnan(m.energy_j) && isnan(m.sclk_mhz) && isnan(m.mclk_mhz));
    assert_false(m.whole || m.accumulations.most);
    t = load("v1_3"); /* whose head is another */
    t.bytes[0] += 8;
    assert_false(gpu_metrics_read(t.bytes, t.len, &m));
}

TEST(other_versions_and_cut_tables_are_not_read)
{
    struct table t = load("v1_8");
    struct gpu_metrics m;
    for (size_t len = 0; len < 16; len++)
        assert_false(gpu_metrics_read(t.bytes, len, &m));
    assert_true(gpu_metrics_read(t.bytes, t.len - 1, &m));
    assert_true(isnan(m.energy_j));
    t.bytes[3] = 10;
    assert_false(gpu_metrics_read(t.bytes, t.len, &m));
    assert_int_equal(m.content, 10);
    t.bytes[2] = 2;
    t.bytes[3] = 8;
    assert_false(gpu_metrics_read(t.bytes, t.len, &m));
}

TEST(what_the_driver_does_not_fill_is_unknown)
{
    struct table t = load("v1_8");
    struct gpu_metrics m;
    memset(t.bytes + 4, 0xff, t.len - 4);
    m = read_table(&t);
    assert_true(isnan(m.power_w) && isnan(m.hotspot_c) && isnan(m.energy_j) && isnan(m.sclk_mhz));
    assert_int_equal(m.dies, 0);
    assert_int_equal(m.partitions, -1);
    assert_false(m.has_status || m.accumulations.most || m.residency[RESIDENCY_POWER].most);
}

/* A table of 1.9 under construction. */
struct entries {
    struct table t;
    int32_t count;
};

enum type { U8, S8, U16, S16, U32, S32, U64, S64 };

static void add(struct entries *e, unsigned id, unsigned unit, enum type type, size_t n,
                const uint64_t *values)
{
    uint64_t word = (uint64_t)unit << 24 | (uint64_t)type << 20 | id << 10 | n;
    memcpy(e->t.bytes + e->t.len, &word, sizeof word);
    e->t.len += sizeof word;
    for (size_t i = 0; i < n; i++) {
        memcpy(e->t.bytes + e->t.len, &values[i], (size_t)1 << type / 2);
        e->t.len += (size_t)1 << type / 2;
    }
    e->count++;
}

static void add_one(struct entries *e, unsigned id, unsigned unit, enum type type, uint64_t value)
{
    add(e, id, unit, type, 1, &value);
}

static void finish(struct entries *e)
{
    const uint16_t size = (uint16_t)e->t.len;
    memcpy(e->t.bytes, &size, sizeof size);
    e->t.bytes[2] = 1;
    e->t.bytes[3] = 9;
    memcpy(e->t.bytes + 4, &e->count, sizeof e->count);
}

/* The state of tests/fixtures/gpu_metrics' cards. backwards: the entries in the other order. */
static struct entries state_1_9(enum type counters, bool backwards)
{
    static const uint64_t clocks[] = {2100, 2100, 2100, 2100, 2100, 2100, 2100, 1980}, busy[] = {97, 12};
    struct entries e = {.t.len = 8};
    for (int i = 0; i < 17; i++)
        switch (backwards ? 16 - i : i) {
        case 0:
            add_one(&e, 0, 2, U16, 63);
            break;
        case 1:
            add_one(&e, 1, 2, U16, 51);
            break;
        case 2:
            add_one(&e, 3, 3, U16, 412);
            break;
        case 3:
            add_one(&e, 4, 10, U16, 98);
            break;
        case 4:
            add_one(&e, 5, 10, U16, 37);
            break;
        case 5:
            add_one(&e, 7, 0, U64, 6553600);
            break;
        case 6:
            add(&e, 33, 1, U16, 8, clocks);
            break;
        case 7:
            add_one(&e, 37, 1, U16, 1300);
            break;
        case 8:
            add_one(&e, 38, 0, U16, 2);
            break;
        case 9:
            add(&e, 40, 10, U32, 2, busy);
            break;
        case 10: /* of no use here, with values of every width */
            add(&e, 700, 77, U8, 3, clocks);
            add(&e, 29, 9, U64, 8, clocks);
            add(&e, 701, 0, S32, 5, clocks);
            add(&e, 3, 200, U32, 1, clocks); /* the power, in a unit of the future */
            add(&e, 33, 1, U16, 0, clocks);
            break;
        default:
            add_one(&e, (unsigned)(9 + (backwards ? 16 - i : i) - 11), 0, counters, 100);
        }
    finish(&e);
    return e;
}

TEST(version_1_9_is_read_by_what_its_entries_say)
{
    static const enum type counters[] = {U16, U32, U64};
    for (size_t i = 0; i < 2 * COUNT(counters); i++) {
        struct entries e = state_1_9(counters[i / 2], i % 2);
        struct gpu_metrics m = read_table(&e.t);
        assert_true(m.whole);
        assert_near(m.power_w, 412, 0);
        assert_near(m.hotspot_c, 63, 0);
        assert_near(m.memory_c, 51, 0);
        assert_near(m.busy, 98, 0);
        assert_near(m.memory_busy, 37, 0);
        assert_near(m.energy_j, 100, 1e-9);
        assert_near(m.mclk_mhz, 1300, 0);
        assert_int_equal(m.dies, 8);
        assert_near(m.sclk_mhz, 2085, 1e-9);
        assert_near(m.sclk_low_mhz, 1980, 0);
        assert_int_equal(m.partitions, 2);
        assert_true(m.partition_busy[0] == 97 && m.partition_busy[1] == 12);
        assert_int_equal(m.accumulations.value, 100);
        assert_int_equal(m.residency[RESIDENCY_MEMORY].most, counters[i / 2] == U16   ? UINT16_MAX
                                                             : counters[i / 2] == U32 ? UINT32_MAX
                                                                                      : UINT64_MAX);
    }
}

TEST(a_sentinel_of_1_9_is_as_wide_as_its_entry)
{
    struct entries e = {.t.len = 8};
    struct gpu_metrics m;
    add_one(&e, 3, 3, U32, UINT32_MAX);
    add_one(&e, 0, 2, U8, UINT8_MAX);
    add_one(&e, 1, 2, S16, (uint16_t)-5);
    add_one(&e, 7, 0, U64, UINT64_MAX);
    add_one(&e, 37, 1, U16, UINT16_MAX);
    add_one(&e, 9, 0, U64, UINT32_MAX); /* a number like any other */
    finish(&e);
    m = read_table(&e.t);
    assert_true(isnan(m.power_w) && isnan(m.hotspot_c) && isnan(m.memory_c) && isnan(m.energy_j));
    assert_true(isnan(m.mclk_mhz));
    assert_int_equal(m.accumulations.value, UINT32_MAX);
}

TEST(a_cut_or_lying_table_of_1_9_is_read_as_far_as_it_goes)
{
    struct entries e = state_1_9(U64, false);
    struct gpu_metrics m;
    for (size_t len = 0; len < e.t.len; len++) {
        bool some = gpu_metrics_read(e.t.bytes, len, &m);
        assert_int_equal(some, len >= 8 + 10);
        assert_false(m.whole);
    }
    int32_t counts[] = {e.count + 1, INT32_MAX, 3};
    for (size_t i = 0; i < COUNT(counts); i++) {
        memcpy(e.t.bytes + 4, &counts[i], sizeof counts[i]);
        m = read_table(&e.t);
        assert_false(m.whole);
        assert_near(m.power_w, 412, 0);
    }
    for (int32_t none = -1; none <= 0; none++) {
        memcpy(e.t.bytes + 4, &none, sizeof none);
        assert_false(gpu_metrics_read(e.t.bytes, e.t.len, &m));
    }
}
