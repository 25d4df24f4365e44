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
        assert_int_equal(m.has_residencies, m.content > 5);
        assert_int_equal(gpu_metrics_throttle(&m, &m, &reasons), m.content == 3);
        if (m.content == 3)
            assert_int_equal(reasons, THROTTLE_POWER | THROTTLE_THERMAL);
    }
}

TEST(a_tenth_of_the_time_is_throttling)
{
    struct table t = load("v1_8");
    struct gpu_metrics before = read_table(&t), now = before;
    unsigned reasons;
    now.accumulations += 100;
    now.residency[RESIDENCY_POWER] += 60;
    now.residency[RESIDENCY_MEMORY] += 10;
    now.residency[RESIDENCY_SOCKET] += 9;
    assert_true(gpu_metrics_throttle(&before, &now, &reasons));
    assert_int_equal(reasons, THROTTLE_POWER | THROTTLE_MEMORY);
    before.accumulations = UINT32_MAX - 49; /* the counters wrap */
    now.accumulations = 50;
    before.residency[RESIDENCY_POWER] = UINT32_MAX - 29;
    now.residency[RESIDENCY_POWER] = 30;
    now.residency[RESIDENCY_MEMORY] = before.residency[RESIDENCY_MEMORY];
    assert_true(gpu_metrics_throttle(&before, &now, &reasons));
    assert_int_equal(reasons, THROTTLE_POWER);
    struct gpu_metrics never = {.has_residencies = false};
    assert_false(gpu_metrics_throttle(&never, &now, &reasons));
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
    assert_false(m.has_residencies);
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
    t.bytes[3] = 9;
    assert_false(gpu_metrics_read(t.bytes, t.len, &m));
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
    assert_false(m.has_status || m.has_residencies);
}
