/* overrides: command-line options are checked, applied to a plan, and round-trip through a run's record. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "harness/plan/overrides.h"

static const char text[] =
    "{\"schema\":\"kernsweep.plan/1\",\"ticket\":\"t\",\"tag\":\"p\",\"baseline\":\"main\","
    "\"contexts\":[16,32],\"timeouts\":{\"default\":9},"
    "\"variants\":[{\"name\":\"a\",\"run\":[\"x\"]},{\"name\":\"b\",\"run\":[\"x\"]}]}";

static void load(struct plan *p)
{
    struct err err = {0};
    assert_ok(plan_load(p, put("plan.json", text), &err), &err);
}

TEST(nothing_given_leaves_the_plan_alone)
{
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    load(&p);
    assert_ok(overrides_apply(&(struct overrides){0}, &p, &err), &err);
    assert_string_equal(p.node, "local");
    assert_string_equal(p.settings.tag, "p");
    assert_string_equal(p.settings.mode, "perf");
    assert_string_equal(p.baseline, "main");
    assert_int_equal(plan_test_count(&p), 4);
}

TEST(what_is_given_takes_the_place_of_the_plan)
{
    const struct overrides o = {.node = "mi300x",
                                .mode = "debug",
                                .tag = "",
                                .baseline = "other",
                                .variants = "b",
                                .contexts = "32",
                                .repeat = "32:3"};
    AUTO(plan_release) struct plan p = {0};
    struct err err = {0};
    load(&p);
    assert_ok(overrides_apply(&o, &p, &err), &err);
    assert_string_equal(p.node, "mi300x");
    assert_string_equal(p.settings.tag, "");
    assert_string_equal(p.settings.mode, "debug");
    assert_string_equal(p.baseline, "other");
    assert_int_equal(plan_test_count(&p), 3);
    assert_string_equal(p.variants.item[0].name, "b");
}

TEST(options_that_are_wrong_are_named)
{
    static const struct {
        struct overrides o;
        const char *option;
    } cases[] = {
        {{.mode = "fast"}, "--mode"},        {{.date = "14.2.2026"}, "--date"},
        {{.date = "2026-02-30"}, "--date"},  {{.date = "1969-12-31"}, "--date"},
        {{.date = "2026-02-1x"}, "--date"},  {{.tag = "a b"}, "--tag"},
        {{.tag = "../x"}, "--tag"},          {{.baseline = ""}, "--baseline"},
        {{.baseline = "a/b"}, "--baseline"}, {{.tag = "0123456789012345678901234567890123"}, "--tag"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        assert_err(overrides_check(&cases[i].o, &err), &err, ERR_INPUT, cases[i].option, "expected");
    }
    struct err err = {0};
    const struct overrides good = {.mode = "debug", .date = "2026-02-14", .tag = "", .baseline = "x"};
    assert_ok(overrides_check(&good, &err), &err);
}

TEST(record_keeps_what_a_repeated_start_needs)
{
    const struct overrides o = {
        .contexts = "16", .date = "2026-02-14", .tag = "", .mode = "perf", .fresh = true};
    struct overrides_record kept, read;
    struct err err = {0};
    assert_true(overrides_keep(&kept, &o));
    json_auto_t *obj = json_object();
    assert_int_equal(overrides_encode(&kept, obj), 0);
    struct json_at at = json_root(obj, "run.json");
    assert_ok(overrides_decode(&read, &at, &err), &err);
    const struct overrides back = overrides_kept(&read);
    assert_null(back.variants);
    assert_null(back.repeat);
    assert_string_equal(back.contexts, "16");
    assert_string_equal(back.date, "2026-02-14");
    assert_string_equal(back.tag, ""); /* given, and empty */
    assert_string_equal(back.mode, "perf");
    assert_true(back.fresh);
    json_object_set_new(obj, "mode", json_string("a mode that is too long"));
    assert_err(overrides_decode(&read, &at, &err), &err, ERR_INPUT, "run.json: $.mode",
               "longer than 15 bytes");
}

TEST(too_long_to_keep_is_said)
{
    struct overrides_record kept;
    char *list = calloc(1, FS_PATH_MAX + 1);
    memset(list, 'v', FS_PATH_MAX);
    assert_false(overrides_keep(&kept, &(struct overrides){.variants = list}));
    list[FS_PATH_MAX - 1] = '\0';
    assert_true(overrides_keep(&kept, &(struct overrides){.variants = list}));
    free(list);
}

GROUP(scratch_make, scratch_remove);
