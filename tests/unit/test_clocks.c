/* clocks: what plans may ask for, what amdgpu's files say of limits, when samples contradict a clock that is
 * held, and records that somebody else wrote.
 */
#include "tests/unit/tree.h"

#include "common/contract/settings.h"
#include "executor/node/clock_watch.h"
#include "executor/node/clocks.h"
#include "executor/node/clocks_gpu.h"
#include "executor/node/clocks_record.h"

TEST(limits_are_those_of_the_shader_clock)
{
    static const struct {
        const char *limits, *frequencies;
        int min_mhz, max_mhz;
    } cases[] = {
        {"OD_SCLK:\n0: 500Mhz\n1: 2100Mhz\nOD_MCLK:\n0: 900Mhz\n1: 1300Mhz\n", "", 500, 2100},
        {"OD_MCLK:\n0: 900Mhz\n1: 1300Mhz\nOD_SCLK:\n0: 500Mhz\n1: 1400Mhz\n", "", 500, 1400},
        {"OD_SCLK:\n0:        700MHz\n1:       1700MHz\nOD_RANGE:\nSCLK:     500MHz       2100MHz\n", "", 700,
         1700},
        {"", "0: 300Mhz\n1: 495Mhz *\n2: 1502Mhz\n", 300, 1502},
        {"", "S: 132Mhz *\n0: 500Mhz\n1: 2100Mhz\n", 500, 2100},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sclk_limits found;
        put("limits/pp_od_clk_voltage", cases[i].limits);
        put("limits/pp_dpm_sclk", cases[i].frequencies);
        assert_true(sclk_limits_read(in_scratch("limits"), &found));
        assert_int_equal(found.min_mhz, cases[i].min_mhz);
        assert_int_equal(found.max_mhz, cases[i].max_mhz);
    }
    struct sclk_limits found;
    put("limits/pp_dpm_sclk", "");
    assert_false(sclk_limits_read(in_scratch("limits"), &found));
}

static enum clock_verdict verdict(enum clocks_mode mode, int mhz, const double *seen, size_t n)
{
    struct clock_samples s = {.count = 0};
    const struct clocks_request want = {.mode = mode, .mhz = mhz};
    for (size_t i = 0; i < n; i++)
        clock_samples_add(&s, &want, seen[i]);
    return clock_samples_judge(&s);
}

TEST(nine_in_ten_samples_decide)
{
    const double at[] = {1400, 1400, 1400, 1400, 1400, 1400, 1400, 1400, 1400, 2100},
                 two_off[] = {1400, 1400, 1400, 1400, 1400, 1400, 1400, 1400, 2100, 2100},
                 low[] = {900, 900, 900, 900}, near[] = {1359, 1441, 1400},
                 unknown[] = {1400, 65535, 1400, 0, 1400, NAN};
    assert_int_equal(verdict(CLOCKS_FIXED, 1400, at, COUNT(at)), CLOCKS_SEEN);
    assert_int_equal(verdict(CLOCKS_FIXED, 1400, two_off, COUNT(two_off)), CLOCKS_OTHER);
    assert_int_equal(verdict(CLOCKS_FIXED, 1400, low, COUNT(low)), CLOCKS_OTHER);
    assert_int_equal(verdict(CLOCKS_FIXED, 1400, near, COUNT(near)), CLOCKS_SEEN);
    assert_int_equal(verdict(CLOCKS_FIXED, 1400, unknown, COUNT(unknown)), CLOCKS_SEEN);
    assert_int_equal(verdict(CLOCKS_DETERMINISM, 1400, low, COUNT(low)), CLOCKS_SEEN);
    assert_int_equal(verdict(CLOCKS_DETERMINISM, 1400, two_off, COUNT(two_off)), CLOCKS_OTHER);
    assert_int_equal(verdict(CLOCKS_FIXED, 1400, at, 2), CLOCKS_UNSEEN);
    assert_int_equal(verdict(CLOCKS_FIXED, 1400, at, 0), CLOCKS_UNSEEN);
}

TEST(limits_count_only_where_a_level_has_them)
{
    const struct clocks_state a = {"auto", 500, 2100}, b = {"auto", 500, 1400}, c = {"manual", 500, 2100},
                              d = {"manual", 500, 1400};
    assert_true(clocks_state_equal(&a, &b));
    assert_false(clocks_state_equal(&a, &c));
    assert_false(clocks_state_equal(&c, &d));
    assert_true(clocks_state_equal(&d, &d));
}

static struct layout machine(void)
{
    struct layout l = {.workdir = ""};
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("machine/sys"));
    snprintf(l.proc, sizeof l.proc, "%s", in_scratch("machine/proc"));
    tree_lay("machine", "tests/fixtures/mi300x/well_tuned");
    return l;
}

static struct clocks_record some_record(void)
{
    struct clocks_record r = {.set = {CLOCKS_FIXED, 1400}, .before = {"manual", 600, 1500}};
    snprintf(r.gpu, sizeof r.gpu, "1d0fbe6a2a1c0000");
    snprintf(r.run_id, sizeof r.run_id, "run-1");
    return r;
}

static void keep_one(const struct clocks_record *r, void *arg)
{
    struct clocks_record *out = arg;
    *out = *r;
}

static bool record_read(const struct layout *l, const char *gpu, struct clocks_record *out)
{
    *out = (struct clocks_record){.user = -1};
    record_each(l, gpu, keep_one, out);
    return out->user >= 0;
}

TEST(a_record_comes_back_as_written)
{
    struct layout l = machine();
    struct err err = {0};
    struct clocks_record r = some_record(), found;
    assert_false(record_read(&l, r.gpu, &found));
    assert_ok(record_write(&l, &r, &err), &err);
    assert_true(record_read(&l, r.gpu, &found));
    assert_string_equal(found.run_id, "run-1");
    assert_int_equal(found.set.mode, CLOCKS_FIXED);
    assert_int_equal(found.set.mhz, 1400);
    assert_true(clocks_state_equal(&found.before, &r.before));
    assert_false(record_is_outdated(&l, &found));
    put("machine/proc/sys/kernel/random/boot_id", "another\n");
    assert_true(record_is_outdated(&l, &found));
    assert_ok(record_clear(&l, r.gpu, geteuid(), &err), &err);
    assert_false(record_read(&l, r.gpu, &found));
}

/* As after a run whose clocks this user may not put back. */
TEST(a_record_in_force_is_not_replaced)
{
    struct layout l = machine();
    struct err err = {0};
    struct clocks_record r = some_record(), found;
    struct clocks c = {.want = {CLOCKS_DETERMINISM, 1800}};
    json_t *gpus = json_loads(
        "[{\"vendor\":\"amd\",\"unique_id\":\"1d0fbe6a2a1c0000\",\"pci\":\"0000:05:00.0\"}]", 0, NULL);
    put("machine/sys/class/drm/card1/device/power_dpm_force_performance_level", "manual\n");
    assert_ok(record_write(&l, &r, &err), &err);
    assert_int_equal(clocks_hold(&c, &l, gpus, r.gpu, "run-2", &err), CONTROL_FAILED);
    assert_non_null(strstr(err.msg, "run-1"));
    assert_int_equal(c.count, 0);
    assert_true(record_read(&l, r.gpu, &found));
    assert_string_equal(found.run_id, "run-1");
    assert_true(clocks_state_equal(&found.before, &r.before));
    json_decref(gpus);
}

#define RECORD(level, least, most, mhz, gpu)                                                                 \
    "{\"gpu\":\"" gpu                                                                                        \
    "\",\"run_id\":\"r\",\"boot_id\":\"b\",\"since\":\"s\",\"user\":%ld,\"mode\":\"fixed\","                 \
    "\"mhz\":" mhz ",\"before\":{\"level\":\"" level "\",\"min_mhz\":" least ",\"max_mhz\":" most "}}"

/* Puts a record of this user's into the place of one; user: the number that its name ends with. */
static void put_record(const char *record, long user)
{
    char name[64], text[8192];
    snprintf(name, sizeof name, "machine/sys/kernsweep-gpu-g.clocks.%ld", user);
    snprintf(text, sizeof text, record, (long)geteuid());
    put(name, text);
}

TEST(records_of_others_are_checked)
{
    struct layout l = machine();
    struct clocks_record found;
    const long own = (long)geteuid();
    static const char good[] = RECORD("manual", "500", "2100", "1400", "g");
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "{}",
        RECORD("auto", "0", "0", "1400", "other"), /* of another GPU */
        RECORD("turbo", "0", "0", "1400", "g"),    /* no such level */
        RECORD("manual", "-1", "2100", "1400", "g"),
        RECORD("manual", "500", "999999999", "1400", "g"),
        RECORD("manual", "500", "2100", "0", "g"),
        RECORD("auto", "0", "0", "1400", "../../g"),
    };
    put_record(good, own + 1);
    assert_false(record_read(&l, "g", &found));
    put_record(good, own);
    assert_true(record_read(&l, "g", &found));
    for (size_t i = 0; i < COUNT(bad); i++) {
        put_record(bad[i], own);
        if (record_read(&l, "g", &found))
            fail_msg("accepted: %s", bad[i]);
    }
    char large[8192];
    snprintf(large, sizeof large, "%-8000s", RECORD("auto", "0", "0", "1400", "g"));
    put_record(large, own);
    assert_false(record_read(&l, "g", &found));
}

TEST(gpus_are_found_by_id_or_address)
{
    struct layout l = machine();
    struct clocks_gpu gpu;
    struct clocks_state now;
    json_t *gpus =
        json_loads("[{\"vendor\":\"amd\",\"unique_id\":\"1d0fbe6a2a1c0000\",\"pci\":\"0000:05:00.0\"},"
                   "{\"vendor\":\"amd\",\"unique_id\":null,\"pci\":\"0000:26:00.0\"},"
                   "{\"vendor\":\"amd\",\"unique_id\":null},"
                   "{\"vendor\":\"nvidia\",\"unique_id\":\"GPU-1\"}]",
                   0, NULL);
    assert_true(clocks_gpu_find(&l, gpus, "1d0fbe6a2a1c0000", &gpu));
    assert_non_null(strstr(gpu.device, "card1/device"));
    assert_true(clocks_state_read(&gpu, &now));
    assert_string_equal(now.level, "auto");
    assert_int_equal(now.max_mhz, 2100);
    assert_true(clocks_gpu_find(&l, gpus, "1", &gpu));
    assert_non_null(strstr(gpu.device, "card2/device"));
    assert_false(clocks_gpu_find(&l, gpus, "2", &gpu)); /* nothing tells which card it is */
    assert_true(clocks_gpu_find(&l, gpus, "GPU-1", &gpu));
    assert_true(gpu.nvidia);
    assert_false(clocks_gpu_find(&l, gpus, "nobody", &gpu));
    json_decref(gpus);
}

TEST(what_no_row_can_express_is_refused)
{
    static const struct {
        const char *plan;
        struct settings s;
        bool scheduled;
        const char *word; /* NULL: accepted */
    } cases[] = {
        {"{}", {.clocks_mode = CLOCKS_LEAVE}, true, NULL},
        {"{\"clocks\":{\"mode\":\"leave\",\"mhz\":1400}}", {.clocks_mhz = 1400}, false, NULL},
        {"{\"clocks\":{\"mhz\":1400}}", {.clocks_mhz = 1400}, false, "needs a \"mode\""},
        {"{\"clocks\":{\"mode\":\"fixed\"}}", {.clocks_mode = CLOCKS_FIXED}, false, "needs \"mhz\""},
        {"{\"clocks\":{}}", {.clocks_mode = CLOCKS_FIXED, .clocks_mhz = 1400}, false, NULL},
        {"{\"clocks\":{}}", {.clocks_mode = CLOCKS_FIXED, .clocks_mhz = 1400}, true, "scheduler"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        json_t *plan = json_loads(cases[i].plan, 0, NULL);
        struct json_at at = json_root(plan, "plan.json");
        int rc = settings_check(&cases[i].s, &at, cases[i].scheduled, &err);
        if (cases[i].word)
            assert_err(rc, &err, ERR_INPUT, ": $.clocks", cases[i].word);
        else
            assert_ok(rc, &err);
        json_decref(plan);
    }
}

GROUP(scratch_make, scratch_remove);
