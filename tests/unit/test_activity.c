/* activity: what the card did during a test, from perf.json to the store and back. */
#include "tests/unit/results_support.h"

#include "results/store/activity_sql.h"

static void what_is_stored_comes_back(void **state)
{
    (void)state;
    struct store s = open_store("activity.db");
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
                                        .neighbours = 2};
    struct run_data r = must_load(&s, must_store(&s, &d));
    const struct run_activity *a = &r.tests[0].activity;
    assert_near(r.tests[0].value[METRIC_SCLK_MHZ], 1980, 0);
    assert_near(r.tests[0].value[METRIC_JOULES_PER_TOKEN], 0.125, 0);
    assert_near(a->sclk_p5_mhz, 1700, 0);
    assert_near(a->mclk_mhz, 1900, 0);
    assert_near(a->mclk_p5_mhz, 1300, 0);
    assert_near(a->power_w, 512.5, 0);
    assert_near(a->temp_c, 91, 0);
    assert_near(a->throttled_s, 0.25, 0);
    assert_string_equal(a->throttle, "power thermal");
    assert_true(a->joules_measured);
    assert_int_equal(a->neighbours, 2);
    run_data_release(&r);
    store_close(&s);
}

static void what_was_not_measured_stays_unknown(void **state)
{
    (void)state;
    struct store s = open_store("no-activity.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, 1);
    struct run_data r = must_load(&s, must_store(&s, &d));
    const struct run_activity *a = &r.tests[0].activity;
    assert_true(isnan(r.tests[0].value[METRIC_SCLK_MHZ]) && isnan(r.tests[0].value[METRIC_JOULES]));
    assert_true(isnan(a->sclk_p5_mhz) && isnan(a->mclk_mhz) && isnan(a->mclk_p5_mhz));
    assert_true(isnan(a->power_w) && isnan(a->temp_c) && isnan(a->throttled_s));
    assert_string_equal(a->throttle, "");
    assert_false(a->joules_measured);
    assert_int_equal(a->neighbours, RUN_UNKNOWN);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test WHERE joules_from IS NULL"), 1);
    run_data_release(&r);
    store_close(&s);
}

static void energy_says_where_it_is_from(void **state)
{
    (void)state;
    struct store s = open_store("joules.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "v", 4096, 1, 1)->value[METRIC_JOULES] = 5;
    struct run_data r = must_load(&s, must_store(&s, &d));
    assert_false(r.tests[0].activity.joules_measured);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test WHERE joules_from = 'power'"), 1);
    run_data_release(&r);
    store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stored_comes_back),
        cmocka_unit_test(what_was_not_measured_stays_unknown),
        cmocka_unit_test(energy_says_where_it_is_from),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
