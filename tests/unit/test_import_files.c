/* import: files in the shape that tools write, and each value of them against tests/fixtures/import/expected,
 * which was made from the same files without kernsweep. A line is FILE MAP VARIANT CONTEXT STATUS VALUE... */
#include "tests/unit/import_support.h"

#include "common/base/fs.h"

#include <stdlib.h>

#define FIXTURES "tests/fixtures/import/"

static const struct import_options day = {.date = "2026-11-21"};

static void check_values(const struct run_data *r, const struct cell *c, char *expected)
{
    char *rest = NULL;
    enum metric m = c->n[METRIC_KERNEL_MS] > 0 ? METRIC_KERNEL_MS : METRIC_PREFILL_S;
    double *values = xcalloc((size_t)c->counted + 1, sizeof *values);
    size_t n = run_data_values(r, c, m, values), i = 0;
    for (char *word = strtok_r(expected, " ", &rest); word; word = strtok_r(NULL, " ", &rest), i++) {
        assert_true(i < n);
        double wanted = strtod(word, NULL);
        assert_near(values[i], wanted, wanted * 1e-12);
    }
    assert_int_equal(i, n);
    free(values);
}

/* Returns the rest of the line after the word, which it ends. */
static char *after(char *word)
{
    char *space = strchr(word, ' ');
    if (!space)
        return word + strlen(word);
    *space = '\0';
    return space + 1;
}

TEST(every_value_is_the_file_s)
{
    AUTO(store_close) struct store s = open_store("files.db");
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    AUTO(run_data_release) struct run_data r = {0};
    struct err err = {0};
    char *rest = NULL, last[128] = "";
    size_t cells = 0;
    assert_ok(fs_read_file(FIXTURES "expected", text.max, &text, &err), &err);
    char *all = buf_steal(&text);
    for (char *file = strtok_r(all, "\n", &rest); file; file = strtok_r(NULL, "\n", &rest)) {
        char *map = after(file), *variant = after(map), *context = after(variant), *status = after(context),
             *values = after(status), path[256];
        if (strcmp(file, last) != 0) {
            assert_int_equal(cells, r.n_cells);
            run_data_release(&r);
            snprintf(path, sizeof path, FIXTURES "%s", file);
            r = import_stored(&s, map, path, &day, 0);
            snprintf(last, sizeof last, "%s", file);
            cells = 0;
        }
        const struct cell *c = run_data_cell(&r, variant, (int)strtol(context, NULL, 10));
        if (!c)
            fail_msg("%s: no %s at %s; there is %s", file, variant, context, r.variants[0].name);
        assert_string_equal(status_name(c->status), status);
        check_values(&r, c, values);
        cells++;
    }
    assert_int_equal(cells, r.n_cells);
    free(all);
}

TEST(what_asv_and_pyperf_say_of_a_run)
{
    AUTO(store_close) struct store s = open_store("asv.db");
    struct run_data r = import_stored(&s, "asv", FIXTURES "asv.json", NULL, 0);
    assert_string_equal(r.info.date, "2026-01-26");
    assert_string_equal(r.info.node, "example");
    assert_string_equal(r.info.revision.commit, "7de6a34fa7886c880550588923fd69315665bad0");
    assert_string_equal(run_data_fact(&r, "environment"), "virtualenv-py3.12-numpy1.26-OMP_NUM_THREADS1");
    assert_string_equal(run_data_cell(&r, "gates.Gates.time_apply.0.25", 16)->reason, "asv skipped it");
    run_data_release(&r);
    r = import_stored(&s, "pyperf", FIXTURES "pyperf.json", NULL, 0);
    assert_string_equal(r.info.date, "2026-01-21");
    run_data_release(&r);
}

/* What is faster when it is more is a metric of its own; a number whose unit is missing is none. */
TEST(jmh_measures_throughput_too)
{
    AUTO(store_close) struct store s = open_store("jmh.db");
    AUTO(run_data_release) struct run_data r = import_stored(&s, "jmh", FIXTURES "jmh.json", &day, 0);
    const struct cell *c = run_data_cell(&r, "org.example.Multiply.run.thrpt.kind_dense", 64);
    assert_int_equal(c->n[METRIC_KERNEL_MS], 0);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM extra JOIN quantity q ON q.id = quantity_id"
                                   " WHERE q.name = 'ops_per_s' AND value BETWEEN 1e5 AND 2e5"),
                     6);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM extra"), 6);
}

/* What is not finite is so in the metric whose unit the file names. */
TEST(jmh_times_that_are_not_finite)
{
    AUTO(store_close) struct store s = open_store("jmh_nan.db");
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, "jmh",
                      put("jmh_nan.json", "[{\"benchmark\":\"a.B.c\",\"mode\":\"ss\",\"primaryMetric\":{"
                                          "\"scoreUnit\":\"s/op\",\"rawData\":[[\"NaN\"]]}}]"),
                      &day, 1);
    assert_string_equal(run_data_cell(&r, "a.B.c.ss", 0)->reason, "kernel_ms is not finite");
}

/* Memory and counts are no times. */
TEST(units_that_are_no_time_are_left_out)
{
    AUTO(store_close) struct store s = open_store("units.db");
    struct err err = {0};
    struct ingest_result result;
    assert_err(import_file(&s, "pyperf",
                           put("mem.json",
                               "{\"metadata\":{\"name\":\"m\",\"unit\":\"byte\"},\"benchmarks\":[{\"runs\":["
                               "{\"metadata\":{\"date\":\"2026-01-21 10:00\"},\"values\":[7360512]}]}]}"),
                           NULL, &result, &err),
               &err, ERR_INPUT, "none of the 1 rows gives a test", "skip");
}

static int count(struct draft *d, void *arg, struct err *err)
{
    json_t *seen = arg;
    (void)err;
    for (size_t i = 0; i < d->n_tests; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s %s %.3f", d->info.date, d->variants[d->tests[i].t.variant].name,
                 d->tests[i].t.value[METRIC_KERNEL_MS]);
        json_array_append_new(seen, json_string(text));
    }
    return 0;
}

/* Entries of rates and of what is better when it is more give no run, the others do. */
TEST(entries_without_times_give_no_run)
{
    AUTO(import_map_release) struct import_map m = {.root = NULL};
    struct err err = {0};
    json_auto_t *seen = json_array();
    assert_ok(import_map_load(&m, "github-action-benchmark", &err), &err);
    assert_ok(import_each(&m, FIXTURES "data.js", NULL, count, seen, &err), &err);
    assert_int_equal(json_array_size(seen), 4);
    assert_string_equal(json_string_value(json_array_get(seen, 0)), "2026-01-20 BenchmarkDummy 1000.087");
    assert_string_equal(json_string_value(json_array_get(seen, 1)), "2026-01-21 BenchmarkDummy 2000.087");
    assert_string_equal(json_string_value(json_array_get(seen, 2)), "2026-01-21 Small.bf 2857.143");
    assert_string_equal(json_string_value(json_array_get(seen, 3)), "2026-01-21 tiny 0.005");
    const char *rates =
        put("rates.js", "window.BENCHMARK_DATA = {\"entries\":{\"P\":[{\"commit\":{\"id\":\"x\"},"
                        "\"date\":1763719200000,\"benches\":[{\"name\":\"a\",\"value\":1,"
                        "\"unit\":\"iter/sec\"}]}]}}");
    assert_err(import_each(&m, rates, NULL, count, seen, &err), &err, ERR_INPUT,
               "none of the 1 rows gives a test", "skip");
}

/* A combination is one value of each list, the last varying fastest; a hostile list is none. */
TEST(combinations)
{
    AUTO(store_close) struct store s = open_store("combinations.db");
    struct err err = {0};
    struct ingest_result result;
    const char *map = put(
        "product.json",
        MAP_HEAD("json", "/*") "\"repeat\":\"/v\",\"test\":{\"variant\":{\"join\":[\"/k\",{\"at\":\"/p\","
                               "\"pairs\":\"all\",\"default\":null}]},\"kernel_ms\":{\"element\":true}}}");
    char *mapping = xstrdup(map);
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, mapping,
                      put("product_rows.json",
                          "[{\"k\":\"a\",\"p\":[[\"x\",\"y\"],[1,2,3]],\"v\":[1,2,3,4,5,6]},"
                          "{\"k\":\"b\",\"p\":[[\"x\"],[]],\"v\":[7]},{\"k\":\"c\",\"p\":[1,[]],\"v\":[8]},"
                          "{\"k\":\"d\",\"p\":[],\"v\":[9]}]"),
                      NULL, 0);
    assert_int_equal(r.n_cells, 9);
    assert_near(run_data_cell(&r, "a-x_3", 0)->median[METRIC_KERNEL_MS], 3, 0);
    assert_near(run_data_cell(&r, "a-y_1", 0)->median[METRIC_KERNEL_MS], 4, 0);
    assert_near(run_data_cell(&r, "b", 0)->median[METRIC_KERNEL_MS], 7, 0);
    assert_near(run_data_cell(&r, "c", 0)->median[METRIC_KERNEL_MS], 8, 0);
    put("bad_from.json",
        MAP_HEAD("json", "/*") "\"test\":{\"variant\":{\"from\":\"column\",\"at\":\"/k\"}}}");
    assert_err(
        import_file(&s, in_scratch("bad_from.json"), in_scratch("product_rows.json"), NULL, &result, &err),
        &err, ERR_INPUT, "from", "path");
    free(mapping);
}

GROUP(scratch_make, scratch_remove);
