/* import: what a file keeps apart stays apart, what cannot be told apart is said, and real files of other
 * tools give the values that are in them. */
#include "tests/unit/import_support.h"

static const struct import_options day = {.date = "2026-11-21"};

static double median_of(const struct run_data *r, const char *variant, int context)
{
    const struct cell *c = run_data_cell(r, variant, context);
    if (!c)
        fail_msg("no cell %s at %d; there is %s at %d", variant, context,
                 r->variants[r->cells[0].variant].name, r->cells[0].context);
    return c->median[METRIC_KERNEL_MS];
}

#define STATE(axes, seconds)                                                                                 \
    "{\"name\":\"Device=0\",\"device\":0,\"is_skipped\":false,\"axis_values\":[" axes "],\"summaries\":["    \
    "{\"tag\":\"nv/cold/time/gpu/"                                                                           \
    "mean\",\"data\":[{\"name\":\"value\",\"type\":\"float64\",\"value\":\"" seconds "\"}]}]}"
#define AXIS(name, type, value) "{\"name\":\"" name "\",\"type\":\"" type "\",\"value\":\"" value "\"}"

TEST(nvbench_states_are_their_axis_values)
{
    AUTO(store_close) struct store s = open_store("apart_nvbench.db");
    AUTO(run_data_release)
    struct run_data r = import_stored(
        &s, "nvbench",
        put("states.json",
            "{\"benchmarks\":[{\"name\":\"h\",\"states\":[" STATE(AXIS("Array Size", "int64", "16") "," AXIS("Num Bins", "int64", "2"), "1e-6") "," STATE(
                AXIS("Array Size", "int64", "16") "," AXIS("Num Bins", "int64", "512"),
                "2e-6") "," STATE(AXIS("Entropy", "float64", "0.25") "," AXIS("N", "int64", "16"),
                                  "3e-6") "," STATE(AXIS("Entropy", "float64", "0.75") "," AXIS("N", "int64",
                                                                                                "16"),
                                                    "4e-6") "," STATE(AXIS("Type", "type",
                                                                           "I8") "," AXIS("BlockSize",
                                                                                          "int64", "64"),
                                                                      "5e-6") "," STATE(AXIS("Mode", "string",
                                                                                             "2D") "," AXIS("N",
                                                                                                            "int64",
                                                                                                            "64"),
                                                                                        "6e-6") "," STATE(AXIS("Mode",
                                                                                                               "string",
                                                                                                               "3D") "," AXIS("N",
                                                                                                                              "int64",
                                                                                                                              "64"),
                                                                                                          "7e"
                                                                                                          "-"
                                                                                                          "6") "," STATE(AXIS("N",
                                                                                                                              "int64",
                                                                                                                              "4294967296"),
                                                                                                                         "8e-6") "," STATE(AXIS("N",
                                                                                                                                                "int64",
                                                                                                                                                "8589934592"),
                                                                                                                                           "9e-6") "]}]}"),
        &day, 0);
    assert_int_equal(r.n_cells, 9);
    assert_near(median_of(&r, "h.Num_Bins_2", 16), 1e-3, 1e-12);
    assert_near(median_of(&r, "h.Num_Bins_512", 16), 2e-3, 1e-12);
    assert_near(median_of(&r, "h.Entropy_0.25", 16), 3e-3, 1e-12);
    assert_near(median_of(&r, "h.Entropy_0.75", 16), 4e-3, 1e-12);
    assert_near(median_of(&r, "h.Mode_3D", 64), 7e-3, 1e-12);
    assert_near(median_of(&r, "h.N_4294967296", 0), 8e-3, 1e-12);
    assert_near(median_of(&r, "h.N_8589934592", 0), 9e-3, 1e-12);
}

TEST(pytest_benchmarks_are_their_parameters)
{
    AUTO(store_close) struct store s = open_store("apart_pytest.db");
#define ONE(full, params, value)                                                                             \
    "{\"name\":\"x\",\"fullname\":\"" full "\",\"params\":" params                                           \
    ",\"param\":null,\"stats\":{\"data\":[" value "]}}"
    AUTO(run_data_release)
    struct run_data r = import_stored(
        &s, "pytest-benchmark",
        put("py.json",
            "{\"version\":\"5.1.0\",\"datetime\":\"2026-11-21T10:00:00\",\"commit_info\":{\"id\":"
            "\"unversioned\"},"
            "\"benchmarks\":[" ONE("t.py::test_a[8-1]", "{\"n\":8,\"m\":1}", "0.001") "," ONE(
                "t.py::test_a[8-4]", "{\"n\":8,\"m\":4}",
                "0.002") "," ONE("t.py::test_b[0.25]", "{\"x\":0.25}",
                                 "0.003") "," ONE("t.py::test_b[0.75]", "{\"x\":0.75}",
                                                  "0.004") "," ONE("t.py::TestA::test_same", "null",
                                                                   "0.005") "," ONE("t.py::TestB::test_same",
                                                                                    "null",
                                                                                    "0.006") "," ONE("u.py::"
                                                                                                     "test_c["
                                                                                                     "a]",
                                                                                                     "{\"p\":"
                                                                                                     "{\"k\":"
                                                                                                     "1}}",
                                                                                                     "0.007") "," ONE("u.py::test_c[b]",
                                                                                                                      "{\"p\":{\"k\":2}}",
                                                                                                                      "0.008") "]}"),
        NULL, 0);
    assert_int_equal(r.n_cells, 8);
    assert_near(median_of(&r, "t.py__test_a.m_1", 8), 1, 1e-9);
    assert_near(median_of(&r, "t.py__test_a.m_4", 8), 2, 1e-9);
    assert_near(median_of(&r, "t.py__test_b.x_0.75", 0), 4, 1e-9);
    assert_near(median_of(&r, "t.py__TestB__test_same", 0), 6, 1e-9);
    assert_string_equal(run_data_fact(&r, "pytest_benchmark"), "5.1.0");
    assert_null(run_data_fact(&r, "commit"));
}

TEST(hyperfine_commands_are_their_parameters)
{
    AUTO(store_close) struct store s = open_store("apart_hyperfine.db");
    AUTO(run_data_release)
    struct run_data r = import_stored(
        &s, "hyperfine",
        put("hf.json",
            "{\"results\":[{\"command\":\"x\",\"times\":[1,2],\"exit_codes\":[0,0],\"parameters\":{\"rev\":"
            "\"a\"}},"
            "{\"command\":\"x\",\"times\":[5],\"exit_codes\":[0],\"parameters\":{\"rev\":\"b\"}}]}"),
        &day, 0);
    assert_int_equal(r.n_cells, 2);
    assert_string_equal(r.variants[0].shape, "rev_a");
    assert_near(run_data_cell(&r, "x_rev_b", 0)->median[METRIC_WALL_S], 5, 1e-12);
}

#define GOOGLE(rows)                                                                                         \
    "{\"context\":{\"date\":\"2026-11-20T01:00:00+00:00\",\"host_name\":\"n\",\"library_version\":\"v1.9."   \
    "1\"},"                                                                                                  \
    "\"benchmarks\":[" rows "]}"
#define ROW(name, more) "{\"name\":\"" name "\",\"run_type\":\"iteration\",\"time_unit\":\"ms\"," more "}"

TEST(google_benchmark_rows)
{
    AUTO(store_close) struct store s = open_store("apart_google.db");
    AUTO(run_data_release)
    struct run_data r = import_stored(
        &s, "google-benchmark",
        put("google.json",
            GOOGLE(ROW(
                "BM_a/2",
                "\"skipped\":true,\"skip_message\":\"needs two "
                "devices\",\"real_time\":0.0") "," ROW("BM_b/2",
                                                       "\"error_"
                                                       "occurred\":true,"
                                                       "\"error_message\":"
                                                       "\"no "
                                                       "device\",\"real_"
                                                       "time\":0.0") "," ROW("BM_c/128x256x64",
                                                                             "\"repetition_index\":0,"
                                                                             "\"real_"
                                                                             "time\":1") "," ROW("BM_c/"
                                                                                                 "128x256"
                                                                                                 "x32",
                                                                                                 "\"repet"
                                                                                                 "itio"
                                                                                                 "n_"
                                                                                                 "index\""
                                                                                                 ":"
                                                                                                 "0,"
                                                                                                 "\"real_"
                                                                                                 "time\":"
                                                                                                 "2") "," ROW("BM_d/8/16",
                                                                                                              "\"real_time\":3") "," ROW("BM_d/8/"
                                                                                                                                         "16",
                                                                                                                                         "\"real_"
                                                                                                                                         "time\":"
                                                                                                                                         "5") "," ROW("BM_d/8/threads:4",
                                                                                                                                                      "\"real_time\":7") "," ROW("BM_e/n:8/m:4",
                                                                                                                                                                                 "\"real_time\":9"))),
        NULL, 0);
    assert_int_equal(r.n_cells, 7);
    assert_int_equal(run_data_cell(&r, "BM_a", 2)->status, STATUS_SKIPPED);
    assert_string_equal(run_data_cell(&r, "BM_a", 2)->reason, "needs two devices");
    assert_int_equal(run_data_cell(&r, "BM_b", 2)->status, STATUS_FAIL);
    assert_near(median_of(&r, "BM_c.128x256x64", 0), 1, 0);
    assert_near(median_of(&r, "BM_c.128x256x32", 0), 2, 0);
    assert_int_equal(run_data_cell(&r, "BM_d.16", 8)->ok, 2);
    assert_near(median_of(&r, "BM_d.threads_4", 8), 7, 0);
    assert_string_equal(run_data_fact(&r, "library_version"), "v1.9.1");
}

/* Before version 1.5, rows have no run_type. */
TEST(old_google_benchmark_aggregates)
{
#define OLD(name, more) "{\"name\":\"" name "\",\"time_unit\":\"ms\"," more "}"
    AUTO(store_close) struct store s = open_store("apart_old_google.db");
    AUTO(run_data_release)
    struct run_data r = import_stored(
        &s, "google-benchmark",
        put("old_google.json",
            GOOGLE(OLD("BM_a/8", "\"real_time\":2") "," OLD("BM_a/8_mean", "\"real_time\":3") "," OLD(
                "BM_a/8_stddev",
                "\"real_time\":0.1") "," OLD("BM_a_BigO",
                                             "\"big_o\":\"N\"") "," OLD("BM_a_RMS",
                                                                        "\"rms\":"
                                                                        "0.1") "," ROW("BM_mean",
                                                                                       "\"real_time\":4"))),
        NULL, 0);
    assert_int_equal(r.n_cells, 2);
    assert_near(median_of(&r, "BM_a", 8), 2, 0);
    assert_near(median_of(&r, "BM_mean", 0), 4, 0);
}

TEST(llama_bench_options_that_are_not_the_default)
{
#define LLAMA(more, ns)                                                                                      \
    "{\"model_type\":\"m\",\"n_prompt\":8,\"n_gen\":0,\"test_time\":\"2026-01-12T10:11:12Z\",\"samples_"     \
    "ns\":[" ns "]," more "}\n"
    AUTO(store_close) struct store s = open_store("apart_llama.db");
    AUTO(run_data_release)
    struct run_data r = import_stored(
        &s, "llama-bench",
        put("llama.jsonl",
            LLAMA("\"type_v\":\"f16\",\"n_batch\":2048,\"split_mode\":\"layer\",\"no_kv_offload\":false",
                  "1e9")
                LLAMA("\"type_v\":\"q8_0\",\"n_batch\":512,\"split_mode\":\"row\",\"no_kv_offload\":true",
                      "2e9") LLAMA("\"type_v\":\"q8_0\",\"n_batch\":512", "3e9")),
        NULL, 0);
    assert_int_equal(r.n_cells, 3);
    assert_near(run_data_cell(&r, "m", 8)->median[METRIC_PREFILL_S], 1, 0);
    assert_near(run_data_cell(&r, "m.vq8_0.b512.smrow.nkvo", 8)->median[METRIC_PREFILL_S], 2, 0);
    assert_near(run_data_cell(&r, "m.vq8_0.b512", 8)->median[METRIC_PREFILL_S], 3, 0);
}

/* Each file counts its repetitions from 0; the same file twice is no measurement. */
TEST(files_of_one_run)
{
    AUTO(store_close) struct store s = open_store("apart_files.db");
    struct err err = {0};
    struct ingest_result result;
    put("1.json", GOOGLE(ROW("BM_a/2", "\"repetition_index\":0,\"real_time\":1")));
    put("2.json", GOOGLE(ROW("BM_a/2", "\"repetition_index\":0,\"real_time\":3")));
    put("copy.json", GOOGLE(ROW("BM_a/2", "\"repetition_index\":0,\"real_time\":1")));
    const char *two[] = {xstrdup(in_scratch("1.json")), xstrdup(in_scratch("2.json"))};
    const char *again[] = {two[0], xstrdup(in_scratch("copy.json"))};
    assert_ok(import_files(&s, "google-benchmark", two, 2, NULL, &result, &err), &err);
    struct run_data r = must_load(&s, result.key);
    assert_near(median_of(&r, "BM_a", 2), 2, 0);
    run_data_release(&r);
    assert_err(import_files(&s, "google-benchmark", again, 2, NULL, &result, &err), &err, ERR_INPUT,
               "the same contents", "1.json");
    free((char *)two[0]);
    free((char *)two[1]);
    free((char *)again[1]);
}

TEST(what_is_lost_is_said)
{
    AUTO(store_close) struct store s = open_store("apart_said.db");
    struct err err = {0};
    struct ingest_result result;
    assert_err(import_file(&s, "google-benchmark",
                           put("agg.json",
                               GOOGLE("{\"name\":\"BM_a_mean\",\"run_type\":\"aggregate\",\"real_time\":1}")),
                           NULL, &result, &err),
               &err, ERR_INPUT, "none of the 1 rows gives a test", "skip");
    put("twice_map.json", MAP_HEAD("csv", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    assert_err(import_file(&s, in_scratch("twice_map.json"), put("twice.csv", "k,t,t\na,1,2\n"), NULL,
                           &result, &err),
               &err, ERR_INPUT, "column \"t\" occurs twice", "twice.csv");
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, "hyperfine",
                      put("same_twice.json", "{\"results\":[{\"command\":\"x\",\"times\":[1,2]},"
                                             "{\"command\":\"x\",\"times\":[5]}]}"),
                      &day, 1);
    assert_non_null(strstr(run_data_fact(&r, "import.warnings"), "two rows are both x"));
}

TEST(thousands_of_benchmarks)
{
    enum { MANY = 5000 };
    AUTO(store_close) struct store s = open_store("apart_many.db");
    AUTO(buf_release) struct buf csv = {.max = 1 << 20};
    put("many_map.json", MAP_HEAD("csv", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    buf_puts(&csv, "k,t\n");
    for (int i = 0; i < MANY; i++)
        buf_printf(&csv, "k%d,%d\n", i, i + 1);
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, in_scratch("many_map.json"), put("many.csv", buf_str(&csv)), NULL, 0);
    assert_int_equal(r.n_cells, MANY);
    assert_near(median_of(&r, "k4999", 0), MANY, 0);
}

struct collected {
    struct store *s;
    char dates[4][11], commits[4][COMMIT_ID_MAX];
    double ms[4];
    size_t n;
};

static int keep(struct draft *d, void *arg, struct err *err)
{
    struct collected *c = arg;
    struct ingest_result result;
    assert_true(c->n < 4);
    snprintf(c->dates[c->n], sizeof c->dates[0], "%s", d->info.date);
    snprintf(c->commits[c->n], sizeof c->commits[0], "%s", d->info.revision.commit);
    c->ms[c->n++] = d->tests[0].t.value[METRIC_KERNEL_MS];
    return ingest_draft(c->s, d, &result, err);
}

static void each(struct store *s, const char *map, const char *file, struct collected *out)
{
    AUTO(import_map_release) struct import_map m = {.root = NULL};
    struct err err = {0};
    *out = (struct collected){.s = s};
    assert_ok(import_map_load(&m, map, &err), &err);
    assert_true(import_has_runs(&m));
    assert_ok(import_each(&m, file, NULL, keep, out, &err), &err);
}

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SHA_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

TEST(a_file_of_many_runs)
{
    AUTO(store_close) struct store s = open_store("apart_runs.db");
    struct collected c;
#define ENTRY(commit, date, value)                                                                           \
    "{\"commit\":{\"id\":\"" commit "\"},\"date\":" date ",\"tool\":\"customSmallerIsBetter\",\"benches\":[" \
    "{\"name\":\"a\",\"value\":" value                                                                       \
    ",\"unit\":\"us/iter\"},{\"name\":\"size\",\"value\":5,\"unit\":\"MB\"}]}"
    each(&s, "github-action-benchmark",
         put("data.js", "window.BENCHMARK_DATA = {\"entries\":{\"B\":[" ENTRY(
                            SHA_A, "1763719200000", "1500") "," ENTRY(SHA_B, "1763805600000", "2500") "]}}"),
         &c);
    assert_int_equal(c.n, 2);
    assert_string_equal(c.dates[0], "2025-11-21");
    assert_string_equal(c.dates[1], "2025-11-22");
    assert_string_equal(c.commits[0], SHA_A);
    assert_near(c.ms[1], 2.5, 1e-12);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run_revision"), 2);

    put("by_map.json", "{\"schema\":\"kernsweep.map/1\",\"input\":\"csv\",\"runs\":\"/*\",\"run_by\":\"/"
                       "sha\",\"rows\":\"/*\","
                       "\"run\":{\"ticket\":{\"const\":\"by\"},\"commit\":\"/0/sha\",\"date\":{\"at\":\"/0/"
                       "at\",\"epoch\":\"s\"}},"
                       "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    each(&s, in_scratch("by_map.json"),
         put("by.csv",
             "sha,at,k,t\n" SHA_A ",1763719200,a,1\n" SHA_B ",1763805600,a,2\n" SHA_A ",1763719200,b,3\n"),
         &c);
    assert_int_equal(c.n, 2);
    assert_string_equal(c.commits[1], SHA_B);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 4);
}

static const char *put_database(const char *name, const char *sql_file)
{
    struct err err = {0};
    AUTO(buf_release) struct buf sql = {.max = 1 << 20};
    const char *path = put(name, "");
    sqlite3 *db;
    assert_ok(fs_read_file(sql_file, sql.max, &sql, &err), &err);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, buf_str(&sql), NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    return path;
}

TEST(registers_of_rocprofv3_are_those_of_both_kinds)
{
    AUTO(store_close) struct store s = open_store("apart_registers.db");
    AUTO(run_data_release)
    struct run_data r = import_stored(&s, "rocprofv3-kernel-trace",
                                      put("registers.csv", "Kernel_Name,Start_Timestamp,End_Timestamp,"
                                                           "VGPR_Count,Accum_VGPR_Count\n"
                                                           "both,1,1001,128,64\nboth,2001,3001,128,128\n"
                                                           "one,4001,5001,32,0\n"),
                                      &day, 0);
    assert_near(run_data_variant(&r, "both")->value[METRIC_VGPRS], 256, 0);
    assert_near(run_data_variant(&r, "one")->value[METRIC_VGPRS], 32, 0);
    AUTO(run_data_release)
    struct run_data old = import_stored(
        &s, "rocprofv3-kernel-trace",
        put("older.csv", "Kernel_Name,Start_Timestamp,End_Timestamp,VGPR_Count\nboth,1,1001,128\n"), &day, 0);
    assert_true(isnan(run_data_variant(&old, "both")->value[METRIC_VGPRS]));
}

TEST(a_database_of_rocprofv3)
{
    AUTO(store_close) struct store s = open_store("apart_profilers.db");
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, "rocprofv3-kernel-trace",
                      put_database("trace_results.db", "tests/fixtures/rocpd/3.0.sql"), &day, 0);
    assert_int_equal(r.n_cells, 2);
    const char *name = "attention_float___int__grid2048x1x1_wg256x1x1_agent4";
    assert_near(median_of(&r, name, 0), 4.022e-3, 1e-12);
    const struct run_variant *v = run_data_variant(&r, name);
    assert_near(v->value[METRIC_VGPRS], 32 + 4, 0);
    assert_near(v->value[METRIC_SCRATCH_BYTES], 0, 0);
}

/* As rocprofv3 --stats sums them up: 4021 and 4023 ns, and one of 1000. */
TEST(a_database_of_rocprofv3_sums_up_its_kernels)
{
    static const char *const files[] = {"tests/fixtures/rocpd/3.0.sql", "tests/fixtures/rocpd/4.1.sql"};
    for (size_t i = 0; i < COUNT(files); i++) {
        char name[32];
        snprintf(name, sizeof name, "stats_%zu.db", i);
        AUTO(store_close) struct store s = open_store(name);
        AUTO(run_data_release)
        struct run_data r =
            import_stored(&s, "rocprofv3-kernel-stats", put_database("stats_results.db", files[i]), &day, 0);
        assert_int_equal(r.n_cells, 2);
        assert_near(median_of(&r, "attention_float___int_", 0), 4.022e-3, 1e-12);
        assert_near(median_of(&r, "copy", 0), 1e-3, 1e-12);
        assert_int_equal(query_int(&s,
                                   "SELECT count(*) FROM extra JOIN quantity q ON q.id = quantity_id WHERE"
                                   " q.name = 'calls' AND value IN (1, 2)"),
                         2);
        assert_int_equal(query_int(&s,
                                   "SELECT count(*) FROM extra JOIN quantity q ON q.id = quantity_id WHERE"
                                   " q.name = 'stddev_ms' AND abs(value * 1e6 - 1.41421356) < 1e-6"),
                         1);
    }
}

TEST(numbers_as_other_locales_write_them)
{
    AUTO(store_close) struct store s = open_store("apart_locale.db");
    put("comma_map.json",
        MAP_HEAD("csv",
                 "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":{\"at\":\"/t\",\"decimal\":\",\"}}}");
    AUTO(run_data_release)
    struct run_data r = import_stored(&s, in_scratch("comma_map.json"),
                                      put("comma.csv", "k,t\na,\"1.234,5\"\nb,\"15,72\"\n"), NULL, 0);
    assert_near(median_of(&r, "a", 0), 1234.5, 1e-9);
    assert_near(median_of(&r, "b", 0), 15.72, 1e-9);
}

/* A separator of thousands stands before three digits: 15,72 is not 1572. */
TEST(numbers_of_another_locale_than_the_mapping_s)
{
    static const char *const values[] = {"15,72", "1.234,56", "1,2345", "1234,567", ",123", "1,234,56"};
    AUTO(store_close) struct store s = open_store("apart_other_locale.db");
    for (size_t i = 0; i < COUNT(values); i++) {
        char text[300];
        struct err err = {0};
        struct ingest_result result;
        snprintf(text, sizeof text,
                 "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
                 "\"0\",\"k\",\"Duration\",\"us\",\"1,015.72\"\n"
                 "\"1\",\"k\",\"Duration\",\"us\",\"%s\"\n",
                 values[i]);
        assert_err(import_file(&s, "ncu-details", put("other_locale.csv", text), &day, &result, &err), &err,
                   ERR_INPUT, values[i], "expected a number");
    }
}

GROUP(scratch_make, scratch_remove);
