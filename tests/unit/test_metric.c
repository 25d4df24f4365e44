/* metric: the rows agree with each other, with the schema and with what other modules look up by name. */
#include "tests/unit/results_support.h"

#include "results/ingest/unit.h"
#include "results/store/metric.h"

static const struct metric_info *info_of(int m)
{
    return metric_info((enum metric)m);
}

static void every_metric_is_found_by_its_name(void **state)
{
    (void)state;
    for (int m = 0; m < METRIC_COUNT; m++) {
        enum metric found;
        assert_true(metric_from_name(info_of(m)->name, &found));
        assert_int_equal(found, m);
        assert_non_null(strstr(metric_names(), info_of(m)->name));
        assert_non_null(info_of(m)->title);
    }
}

static void an_unknown_name_is_refused_with_all_that_there_are(void **state)
{
    (void)state;
    struct err err = {0};
    enum metric m;
    assert_err(metric_parse("prefil_s", &m, &err), &err, ERR_INPUT, "\"prefil_s\"", "prefill_s tok_per_s",
               "vgprs");
}

static void every_unit_is_one_that_imports_convert_to(void **state)
{
    (void)state;
    double factor;
    for (int m = 0; m < METRIC_COUNT; m++)
        assert_true(unit_factor(info_of(m)->unit, info_of(m)->unit, &factor));
}

static void columns_are_those_of_the_schema_with_their_types(void **state)
{
    (void)state;
    struct store s = open_store("columns.db");
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = info_of(m);
        char query[256];
        snprintf(query, sizeof query,
                 "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s' AND type = '%s'",
                 info->kind == METRIC_OF_BUILD ? "variant" : "test", info->column ? info->column : "",
                 info->whole ? "INTEGER" : "REAL");
        assert_int_equal(query_int(&s, query), info->kind == METRIC_OF_TIME ? 0 : 1);
    }
    store_close(&s);
}

static void every_stored_metric_is_read_from_somewhere(void **state)
{
    (void)state;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = info_of(m);
        assert_int_equal(!!info->timing + !!info->artifact, info->kind == METRIC_OF_TIME ? 0 : 1);
        assert_true(!info->artifact || info->most > 0);
    }
}

static void the_first_measured_of_prefill_kernel_and_wall_time_decides(void **state)
{
    (void)state;
    struct metric_set measured = {0};
    assert_int_equal(metric_default(), METRIC_PREFILL_S);
    assert_int_equal(metric_primary(METRIC_TFLOPS, &measured), METRIC_TFLOPS);
    measured.has[METRIC_WALL_S] = measured.has[METRIC_RSS_PEAK] = true;
    assert_int_equal(metric_primary(METRIC_PREFILL_S, &measured), METRIC_WALL_S);
    measured.has[METRIC_KERNEL_MS] = true;
    assert_int_equal(metric_primary(METRIC_PREFILL_S, &measured), METRIC_KERNEL_MS);
    assert_int_equal(metric_primary(METRIC_RSS_PEAK, &measured), METRIC_RSS_PEAK);
    measured.has[METRIC_PREFILL_S] = true;
    assert_int_equal(metric_primary(METRIC_TFLOPS, &measured), METRIC_PREFILL_S);
}

static void a_rate_follows_from_its_time_and_the_context(void **state)
{
    (void)state;
    double value[METRIC_COUNT] = {0};
    value[METRIC_PREFILL_S] = 0.5;
    metric_derive(value, 4096);
    assert_float_equal(value[METRIC_TOK_PER_S], 8192, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_metric_is_found_by_its_name),
        cmocka_unit_test(an_unknown_name_is_refused_with_all_that_there_are),
        cmocka_unit_test(every_unit_is_one_that_imports_convert_to),
        cmocka_unit_test(columns_are_those_of_the_schema_with_their_types),
        cmocka_unit_test(every_stored_metric_is_read_from_somewhere),
        cmocka_unit_test(the_first_measured_of_prefill_kernel_and_wall_time_decides),
        cmocka_unit_test(a_rate_follows_from_its_time_and_the_context),
    };
    return cmocka_run_group_tests_name("metric", tests, scratch_make, scratch_remove);
}
