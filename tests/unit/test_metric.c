/* metric: the rows agree with each other, with the schema and with what other modules look up by name. */
#include "tests/unit/results_support.h"

#include "common/contract/own_metric.h"
#include "results/ingest/import/value.h"
#include "results/store/metric.h"

static const struct metric_info *info_of(int m)
{
    return metric_info((enum metric)m);
}

TEST(every_metric_is_found_by_its_name)
{
    for (int m = 0; m < METRIC_BUILT_IN; m++) {
        enum metric found;
        assert_true(metric_from_name(info_of(m)->name, &found));
        assert_int_equal(found, m);
        assert_non_null(strstr(metric_help, info_of(m)->name));
        assert_true(own_metric_is_reserved(info_of(m)->name));
        assert_non_null(info_of(m)->title);
    }
}

TEST(an_unknown_name_is_refused_with_all_that_there_are)
{
    struct err err = {0};
    enum metric m;
    assert_err(metric_parse("prefil_s", &m, &err), &err, ERR_INPUT, "\"prefil_s\"", "prefill_s tok_per_s",
               "vgprs");
}

TEST(every_unit_is_one_that_imports_convert_to)
{
    double factor;
    for (int m = 0; m < METRIC_BUILT_IN; m++)
        assert_true(unit_factor(info_of(m)->unit, info_of(m)->unit, &factor));
}

TEST(columns_are_those_of_the_schema_with_their_types)
{
    AUTO(store_close) struct store s = open_store("columns.db");
    for (int m = 0; m < METRIC_BUILT_IN; m++) {
        const struct metric_info *info = info_of(m);
        char query[256];
        snprintf(query, sizeof query,
                 "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s' AND type = '%s'",
                 info->kind == METRIC_OF_BUILD ? "variant" : "test", info->column ? info->column : "",
                 info->whole ? "INTEGER" : "REAL");
        assert_int_equal(query_int(&s, query), metric_is_derived((enum metric)m) ? 0 : 1);
    }
}

TEST(every_stored_metric_is_read_from_somewhere)
{
    for (int m = 0; m < METRIC_BUILT_IN; m++) {
        const struct metric_info *info = info_of(m);
        assert_int_equal(!!info->timing + !!info->artifact, metric_is_derived((enum metric)m) ? 0 : 1);
        assert_true(!info->artifact || info->most > 0);
    }
}

TEST(the_first_measured_of_prefill_kernel_and_wall_time_decides)
{
    struct metric_set measured = {0};
    assert_int_equal(metric_primary(metric_default(), &measured), METRIC_PREFILL_S);
    assert_int_equal(metric_primary(METRIC_TFLOPS, &measured), METRIC_TFLOPS);
    measured.has[METRIC_WALL_S] = measured.has[METRIC_RSS_PEAK] = true;
    assert_int_equal(metric_primary(METRIC_PREFILL_S, &measured), METRIC_WALL_S);
    measured.has[METRIC_KERNEL_MS] = true;
    assert_int_equal(metric_primary(METRIC_PREFILL_S, &measured), METRIC_KERNEL_MS);
    assert_int_equal(metric_primary(METRIC_RSS_PEAK, &measured), METRIC_RSS_PEAK);
    measured.has[METRIC_PREFILL_S] = true;
    assert_int_equal(metric_primary(METRIC_TFLOPS, &measured), METRIC_PREFILL_S);
}

TEST(a_rate_follows_from_its_time_and_the_context)
{
    double value[METRIC_COUNT] = {0};
    value[METRIC_PREFILL_S] = 0.5;
    metric_derive(value, 4096, false);
    assert_float_equal(value[METRIC_TOK_PER_S], 8192, 1e-9);
}

TEST(a_share_follows_from_the_whole_and_the_context)
{
    double value[METRIC_COUNT] = {0};
    value[METRIC_JOULES] = 2048;
    metric_derive(value, 4096, true);
    assert_float_equal(value[METRIC_JOULES_PER_TOKEN], 0.5, 1e-12);
    metric_derive(value, 4096, false);
    assert_true(isnan(value[METRIC_JOULES_PER_TOKEN]));
    value[METRIC_JOULES] = NAN;
    metric_derive(value, 4096, true);
    assert_true(isnan(value[METRIC_JOULES_PER_TOKEN]));
}

static enum metric must_define(const struct metric_definition *d, const char *owner)
{
    struct err err = {0};
    enum metric m = METRIC_COUNT;
    assert_ok(metric_define(d, owner, &m, &err), &err);
    return m;
}

static const struct metric_definition gbs = {
    .name = "gbs", .unit = "GB/s", .better = METRIC_MORE, .least = 2};

TEST(a_definition_takes_a_place_and_keeps_it)
{
    enum metric m = must_define(&gbs, "a"), found;
    assert_in_range(m, METRIC_BUILT_IN, METRIC_COUNT - 1);
    assert_int_equal(must_define(&gbs, "b"), m);
    assert_true(metric_from_name("gbs", &found));
    assert_int_equal(found, m);
    assert_string_equal(metric_info(m)->title, "gbs (GB/s)");
    assert_int_equal(metric_info(m)->better, METRIC_MORE);
    assert_true(metric_info(m)->least == 2);
    assert_true(metric_is_judged(m));
    assert_false(metric_is_time(m));
    assert_true(metric_is_speed(m) && metric_is_speed(METRIC_PREFILL_S) && metric_is_speed(METRIC_TFLOPS));
    assert_false(metric_is_speed(METRIC_JOULES) || metric_is_speed(METRIC_VRAM_PEAK));
    metric_forget();
}

TEST(another_unit_or_direction_is_refused_in_one_line)
{
    struct metric_definition other = gbs;
    struct err err = {0};
    enum metric m;
    must_define(&gbs, "run-a");
    snprintf(other.unit, sizeof other.unit, "MB/s");
    assert_err(metric_define(&other, "run-b", &m, &err), &err, ERR_INPUT, "run-a", "\"GB/s\"", "run-b",
               "another name");
    other = gbs;
    other.better = METRIC_LESS;
    assert_err(metric_define(&other, "run-b", &m, &err), &err, ERR_INPUT, "more is better");
    metric_forget();
}

TEST(a_number_that_is_only_printed_has_no_direction)
{
    struct err err = {0};
    enum metric m, again;
    assert_true(metric_mention("gbs", &m));
    assert_false(metric_is_judged(m));
    assert_err(metric_parse("gbs", &again, &err), &err, ERR_INPUT, "\"metrics\"");
    assert_int_equal(must_define(&gbs, "a"), m); /* from now on it has one */
    assert_ok(metric_parse("gbs", &again, &err), &err);
    assert_false(metric_mention("wall_s", &m));
    metric_forget();
}

TEST(places_are_bounded)
{
    struct metric_definition d = gbs;
    struct err err = {0};
    enum metric m;
    for (int i = 0; i < METRIC_PRINTED_MAX; i++) {
        snprintf(d.name, sizeof d.name, "printed%d", i);
        assert_true(metric_mention(d.name, &m));
    }
    assert_false(metric_mention("one_more", &m));
    for (int i = 0; i < METRIC_DEFINED_MAX; i++) {
        snprintf(d.name, sizeof d.name, "defined%d", i);
        must_define(&d, "a");
    }
    snprintf(d.name, sizeof d.name, "one_more");
    assert_err(metric_define(&d, "a", &m, &err), &err, ERR_INPUT, "more than 16", "metrics");
    metric_forget();
    assert_int_equal(metric_info((enum metric)METRIC_BUILT_IN)->kind, METRIC_FREE);
}

TEST(ones_own_metric_decides_before_the_wall_time)
{
    struct metric_set measured = {0};
    enum metric m = must_define(&gbs, "a");
    measured.has[METRIC_WALL_S] = measured.has[m] = true;
    assert_int_equal(metric_primary(metric_default(), &measured), m);
    measured.has[METRIC_PREFILL_S] = true;
    assert_int_equal(metric_primary(metric_default(), &measured), METRIC_PREFILL_S);
    assert_int_equal(metric_primary(m, &measured), m);
    metric_forget();
}

GROUP(scratch_make, scratch_remove);
