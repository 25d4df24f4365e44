/* activity: what the card did during a test, from perf.json to the store and back. */
#include "tests/unit/results_support.h"

#include "results/ingest/bundle/artifact.h"

TEST(what_is_stored_comes_back)
{
    AUTO(store_close) struct store s = open_store("activity.db");
    struct draft d;
    draft_night(&d, 1);
    struct run_test *t = draft_shot(&d, "v", 4096, 1, 1);
    t->value[METRIC_SCLK_MHZ] = 1980;
    t->value[METRIC_JOULES] = 512;
    t->activity = (struct run_activity){.sclk_p5_mhz = 1700,
                                        .mclk_mhz = 1900,
                                        .mclk_p5_mhz = 1300,
                                        .power_w = 512.5,
                                        .temp_c = 91,
                                        .throttled_s = 0.25,
                                        .throttle = "power thermal",
                                        .joules_measured = true,
                                        .neighbours = 2,
                                        .window = "busy"};
    AUTO(run_data_release) struct run_data r = must_load(&s, must_store(&s, &d));
    const struct run_activity *a = &r.tests[0].activity;
    assert_near(r.tests[0].value[METRIC_SCLK_MHZ], 1980, 0);
    assert_true(isnan(r.tests[0].value[METRIC_JOULES_PER_TOKEN])); /* of no part that read tokens */
    assert_near(a->sclk_p5_mhz, 1700, 0);
    assert_near(a->mclk_mhz, 1900, 0);
    assert_near(a->mclk_p5_mhz, 1300, 0);
    assert_near(a->power_w, 512.5, 0);
    assert_near(a->temp_c, 91, 0);
    assert_near(a->throttled_s, 0.25, 0);
    assert_string_equal(a->throttle, "power thermal");
    assert_true(a->joules_measured);
    assert_int_equal(a->neighbours, 2);
    assert_string_equal(a->window, "busy");
}

TEST(what_was_not_measured_stays_unknown)
{
    AUTO(store_close) struct store s = open_store("no-activity.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, 1);
    AUTO(run_data_release) struct run_data r = must_load(&s, must_store(&s, &d));
    const struct run_activity *a = &r.tests[0].activity;
    assert_true(isnan(r.tests[0].value[METRIC_SCLK_MHZ]) && isnan(r.tests[0].value[METRIC_JOULES]));
    assert_true(isnan(a->sclk_p5_mhz) && isnan(a->mclk_mhz) && isnan(a->mclk_p5_mhz));
    assert_true(isnan(a->power_w) && isnan(a->temp_c) && isnan(a->throttled_s));
    assert_string_equal(a->throttle, "");
    assert_false(a->joules_measured);
    assert_int_equal(a->neighbours, RUN_UNKNOWN);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test WHERE joules_from IS NULL"), 1);
}

TEST(energy_says_where_it_is_from)
{
    AUTO(store_close) struct store s = open_store("joules.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, 1)->value[METRIC_JOULES] = 5;
    AUTO(run_data_release) struct run_data r = must_load(&s, must_store(&s, &d));
    assert_false(r.tests[0].activity.joules_measured);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test WHERE joules_from = 'power'"), 1);
}

static struct json_at perf_with(const char *activity, json_t **root)
{
    struct err err = {0};
    char text[1024];
    snprintf(text, sizeof text, "{\"exit_status\": \"OK\", \"activity\": %s}", activity);
    *root = json_parse(text, strlen(text), "perf.json", &err);
    assert_non_null(*root);
    return json_root(*root, "perf.json");
}

TEST(a_bundle_brings_it)
{
    struct err err = {0};
    AUTO(draft_release) struct draft d = {0};
    json_t *root;
    draft_night(&d, 1);
    struct draft_test *t = draft_add_test(&d, &err);
    struct json_at perf =
        perf_with("{\"window\": {\"kind\": \"timed\", \"from_s\": 1, \"to_s\": 2, \"samples\": 9},"
                  " \"sclk_mhz\": 1584.3, \"sclk_p5_mhz\": 1440, \"sclk_low_mhz\": null,"
                  " \"mclk_mhz\": 2619, \"mclk_p5_mhz\": null, \"power_w\": 705.9, \"temp_c\": 68,"
                  " \"throttled_s\": 3.36, \"throttle\": [\"power\", \"thermal\"],"
                  " \"joules\": 2396, \"joules_from\": \"accumulator\", \"neighbours\": 0}",
                  &root);
    assert_ok(artifact_perf(&perf, &d, t, &err), &err);
    assert_ok(artifact_activity(&perf, &t->t.activity, &err), &err);
    const struct run_activity *a = &t->t.activity;
    assert_near(t->t.value[METRIC_SCLK_MHZ], 1584.3, 0);
    assert_near(t->t.value[METRIC_JOULES], 2396, 0);
    assert_near(a->sclk_p5_mhz, 1440, 0);
    assert_near(a->mclk_mhz, 2619, 0);
    assert_true(isnan(a->mclk_p5_mhz));
    assert_near(a->power_w, 705.9, 0);
    assert_near(a->temp_c, 68, 0);
    assert_near(a->throttled_s, 3.36, 0);
    assert_string_equal(a->throttle, "power thermal");
    assert_string_equal(a->window, "timed");
    assert_true(a->joules_measured);
    assert_int_equal(a->neighbours, 0);
    json_decref(root);
}

TEST(what_cannot_be_is_refused)
{
    static const char *const wrong[][2] = {
        {"[]", "expected an object"},
        {"{\"throttled_s\": -1}", "throttled_s"},
        {"{\"power_w\": \"hot\"}", "power_w"},
        {"{\"throttle\": [\"a b\"]}", "reason to throttle"},
        {"{\"throttle\": [7]}", "reason to throttle"},
        {"{\"window\": {\"kind\": \"guess\"}}", "window"},
        {"{\"neighbours\": 1.5}", "neighbours"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct err err = {0};
        AUTO(draft_release) struct draft d = {0};
        json_t *root;
        draft_night(&d, 1);
        struct draft_test *t = draft_add_test(&d, &err);
        struct json_at perf = perf_with(wrong[i][0], &root);
        assert_err(artifact_activity(&perf, &t->t.activity, &err), &err, ERR_INPUT, "perf.json", wrong[i][1]);
        json_decref(root);
    }
}

GROUP(scratch_make, scratch_remove);
