/* import: the files of other tools through their mappings, and user-defined mappings. */
#include "tests/unit/import_support.h"

#include "results/ingest/import/pointer.h"
#include "results/ingest/import/value.h"
#include "results/ingest/text/csv.h"
#include "results/judge/compare.h"

TEST(google_benchmark_is_imported)
{
    AUTO(store_close) struct store s = open_store("google.db");
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, "google-benchmark", "tests/fixtures/import/google-benchmark.json", NULL, 0);
    assert_string_equal(r.info.node, "example");
    assert_string_equal(r.info.origin, "import");
    assert_string_equal(r.info.date, "2026-11-21");
    assert_int_equal(r.n_cells, 4);
    const struct cell *c = run_data_cell(&r, "BM_Sum", 256);
    assert_non_null(c);
    assert_int_equal(c->ok, 3);
    double first[3];
    assert_int_equal(run_data_values(&r, c, METRIC_KERNEL_MS, first), 3);
    /* Microseconds in the file. */
    assert_near(first[0], 2.3762408658870368e-04, 1e-15);
    assert_int_equal(run_data_cell(&r, "BM_Plain", 0)->ok, 3);
    c = run_data_cell(&r, "BM_Bad", 0);
    assert_int_equal(c->status, STATUS_FAIL);
    assert_string_equal(c->reason, "no device");
    assert_string_equal(run_data_fact(&r, "cpus"), "2");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM extra JOIN quantity q ON q.id = quantity_id"
                                   " WHERE q.name = 'items_per_second'"),
                     6);
}

TEST(hyperfine_is_imported)
{
    AUTO(store_close) struct store s = open_store("hyperfine.db");
    struct err err = {0};
    struct comparison cmp;
    const struct compare_options o = compare_defaults();
    const struct import_options day = {.date = "2026-02-14", .node = NODE};
    struct run_data r = import_stored(&s, "hyperfine", "tests/fixtures/import/hyperfine.json", &day, 0);
    assert_int_equal(r.n_cells, 2);
    const struct cell *c = run_data_cell(&r, "sleep_0.01_n_1", 0);
    assert_int_equal(c->n[METRIC_WALL_S], 4);
    assert_near(c->median[METRIC_WALL_S], 0.012672899, 1e-9);
    /* Wall time is what there is, so it decides. */
    compare_runs(&r, &r, NULL, &o, &cmp);
    assert_int_equal(cmp.primary, METRIC_WALL_S);
    comparison_release(&cmp);
    run_data_release(&r);
    r = import_stored(&s, "hyperfine", "tests/fixtures/import/hyperfine-failing.json", &day, 0);
    assert_int_equal(r.cells[0].status, STATUS_FAIL);
    assert_int_equal(r.cells[0].counted, 3);
    run_data_release(&r);

    struct ingest_result result;
    assert_err(import_file(&s, "hyperfine", "tests/fixtures/import/hyperfine.json", NULL, &result, &err),
               &err, ERR_INPUT, "hyperfine.json", "--date");
}

TEST(pytest_benchmark_is_imported)
{
    AUTO(store_close) struct store s = open_store("pytest.db");
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, "pytest-benchmark", "tests/fixtures/import/pytest-benchmark.json", NULL, 0);
    assert_int_equal(r.n_cells, 2);
    const struct cell *c = run_data_cell(&r, "test_b.py__test_sum", 256);
    assert_non_null(c);
    assert_true(c->ok >= 5);
    assert_true(c->median[METRIC_KERNEL_MS] > 1e-4 && c->median[METRIC_KERNEL_MS] < 1);
}

/* Of the tool itself, on the CPU: prompts of 64 and 128 tokens, each without and with flash attention; what
 * it generated is left out. */
TEST(llama_bench_json_is_imported)
{
    AUTO(store_close) struct store s = open_store("llama.db");
    AUTO(run_data_release)
    struct run_data r = import_stored(&s, "llama-bench", "tests/fixtures/import/llama-bench.json", NULL, 0);
    assert_int_equal(r.n_cells, 4);
    assert_string_equal(r.variants[0].name, "llama__B_all_F32.nofa.kf16.ngl99.ub512.t1.d0");
    assert_string_equal(r.variants[1].name, "llama__B_all_F32.fa.kf16.ngl99.ub512.t1.d0");
    assert_int_equal(r.cells[0].context, 64);
    assert_int_equal(r.cells[0].n[METRIC_PREFILL_S], 3);
    assert_near(r.cells[0].median[METRIC_PREFILL_S], 0.060253650, 1e-12);
    assert_near(r.cells[3].median[METRIC_TOK_PER_S], 128 / 0.079644295, 1e-6);
    assert_string_equal(r.info.started_at, "2026-11-21T17:31:34.000Z");
    assert_string_equal(run_data_fact(&r, "build"), "68717eac3");
    assert_string_equal(run_data_fact(&r, "model"), "tiny.gguf");
    assert_string_equal(run_data_fact(&r, "cpu_model"), "AMD EPYC");
}

/* One result a line: two sizes of micro-batch, and rows that read a prompt and then generate, which are left
 * out. */
TEST(llama_bench_jsonl_is_imported)
{
    AUTO(store_close) struct store s = open_store("llama_lines.db");
    AUTO(run_data_release)
    struct run_data r = import_stored(&s, "llama-bench", "tests/fixtures/import/llama-bench.jsonl", NULL, 0);
    assert_int_equal(r.n_cells, 4);
    assert_int_equal(r.n_tests, 8);
    assert_string_equal(r.variants[0].name, "llama__B_all_F32.nofa.kf16.ngl99.ub64.t1.d0");
    assert_string_equal(r.variants[1].name, "llama__B_all_F32.nofa.kf16.ngl99.ub128.t1.d0");
    assert_near(r.cells[3].median[METRIC_PREFILL_S], (0.096498377 + 0.092079721) / 2, 1e-12);
}

/* As its sources of late 2026 print it: by hand. */
TEST(llama_bench_with_automatic_flash_attention)
{
    AUTO(store_close) struct store s = open_store("llama_auto.db");
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, "llama-bench", "tests/fixtures/import/llama-bench-fa-auto.json", NULL, 0);
    assert_int_equal(r.n_cells, 2);
    assert_string_equal(r.variants[0].name, "llama_tiny_F16.faauto.kf16.ngl99.ub512.t2.d0");
    assert_near(r.cells[0].median[METRIC_PREFILL_S], 0.101, 1e-12);
    assert_string_equal(run_data_fact(&r, "gpus0.name"), "a GPU");
}

/* Of the tool itself, on an H100: a power of two as the context with a second number, one state of which is
 * skipped, and a benchmark over types. */
TEST(nvbench_is_imported)
{
    AUTO(store_close) struct store s = open_store("nvbench.db");
    const struct import_options day = {.date = "2026-11-21"};
    AUTO(run_data_release)
    struct run_data r = import_stored(&s, "nvbench", "tests/fixtures/import/nvbench.json", &day, 0);
    assert_int_equal(r.n_cells, 8);
    const struct cell *c = run_data_cell(&r, "copy_scaled.Block_128", 65536);
    assert_non_null(c);
    assert_near(c->median[METRIC_KERNEL_MS], 4.49818484898858e-3, 1e-15);
    c = run_data_cell(&r, "fill.T_F64", 1048576);
    assert_non_null(c);
    assert_near(c->median[METRIC_KERNEL_MS], 5.90965983643941e-3, 1e-14);
    const struct cell *skipped = run_data_cell(&r, "copy_scaled.Block_1024", 65536);
    assert_int_equal(skipped->status, STATUS_SKIPPED);
    assert_string_equal(skipped->reason, "too few elements for this block");
    assert_string_equal(run_data_fact(&r, "gpus0.name"), "NVIDIA H100 80GB HBM3");
    assert_string_equal(run_data_fact(&r, "nvbench"), "0.1.0-66212f1");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM extra JOIN quantity q ON q.id = quantity_id"
                                   " WHERE q.name = 'batch_ms' AND value BETWEEN 0.0045 AND 0.0078"),
                     7);
}

TEST(a_mapping_of_ones_own_reads_csv)
{
    AUTO(store_close) struct store s = open_store("own.db");
    put("own.json", OWN_MAP);
    put("own.csv", "kernel,n,time,unit,mem\r\n\"odd, name\",4096,1500,ms,12\n\"odd, "
                   "name\",4096,1.75,s,13\nb,8192,2,s,1\n");
    AUTO(run_data_release)
    struct run_data r = import_stored(&s, in_scratch("own.json"), in_scratch("own.csv"), NULL, 0);
    const struct cell *c = run_data_cell(&r, "odd__name", 4096);
    assert_int_equal(c->ok, 2);
    assert_near(c->median[METRIC_PREFILL_S], 1.625, 1e-12);
    assert_near(c->median[METRIC_VRAM_PEAK], 12.5 * (1 << 20), 0);
    assert_int_equal(r.tests[0].repetition, 1);
    assert_int_equal(r.tests[1].repetition, 2);
}

/* Of an expression's groups the one that is asked for, and nothing where it has nothing. */
TEST(a_group_of_an_expression)
{
    static const char map[] =
        "{\"schema\":\"kernsweep.map/1\",\"input\":\"csv\",\"rows\":\"/"
        "*\",\"run\":{\"ticket\":{\"const\":\"mine\"},"
        "\"date\":{\"const\":\"2026-02-14\"}},\"test\":{\"variant\":{\"join\":[{\"at\":\"/"
        "k\",\"match\":\"^([a-z]+)(-([a-z]*))?\"},"
        "{\"at\":\"/k\",\"match\":\"^([a-z]+)(-([a-z]*))?\",\"group\":%d,\"default\":null}],\"with\":\".\"},"
        "\"prefill_s\":{\"at\":\"/t\",\"unit\":\"s\"}}}";
    char text[sizeof map + 8];
    struct err err = {0};
    struct ingest_result result;
    AUTO(store_close) struct store s = open_store("group.db");
    snprintf(text, sizeof text, map, 3);
    put("group.json", text);
    put("group.csv", "k,t\nfast-small,1\nfast-,2\nslow,3\n");
    struct run_data r = import_stored(&s, in_scratch("group.json"), in_scratch("group.csv"), NULL, 0);
    assert_int_equal(r.n_variants, 3);
    assert_non_null(run_data_cell(&r, "fast.small", 0));
    assert_non_null(run_data_cell(&r, "fast", 0));
    assert_non_null(run_data_cell(&r, "slow", 0));
    run_data_release(&r);
    snprintf(text, sizeof text, map, 10);
    put("group.json", text);
    assert_err(import_file(&s, in_scratch("group.json"), in_scratch("group.csv"), NULL, &result, &err), &err,
               ERR_INPUT, "group.csv: /0", "from 1 to 9", "test.variant");
}

static struct ingest_result imported(struct store *s, const char *map, const char *const *files, size_t n,
                                     const struct import_options *options)
{
    struct err err = {0};
    struct ingest_result result;
    assert_ok(import_files(s, map, files, n, options, &result, &err), &err);
    return result;
}

/* The unit was wrong by a factor of 1000: the mended mapping is another reading of the same file. */
TEST(a_corrected_mapping_replaces)
{
    static const char map[] =
        MAP_HEAD("csv", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":{\"at\":\"/t\",\"unit\":\"%s\"}}}";
    char text[sizeof map + 8];
    AUTO(store_close) struct store s = open_store("corrected.db");
    struct err err = {0};
    struct ingest_result first, second;
    const struct import_options replace = {.replace = true};
    char file[FS_PATH_MAX];
    snprintf(file, sizeof file, "%s", put("corrected.csv", "k,t\nv3,20770\n"));
    const char *files[] = {file};
    snprintf(text, sizeof text, map, "ms");
    first = imported(&s, put("corrected.json", text), files, 1, NULL);
    assert_int_equal(imported(&s, in_scratch("corrected.json"), files, 1, NULL).effect, INGEST_ALREADY);
    assert_int_equal(sqlite3_exec(s.db,
                                  "INSERT INTO baseline (name, ticket, node, mode, set_at)"
                                  " SELECT 'gold', ticket, node, mode, 0 FROM run;"
                                  "INSERT INTO baseline_run (baseline_id, run_id, set_at) SELECT b.id, r.id, "
                                  "0 FROM baseline b, run r",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    snprintf(text, sizeof text, map, "us");
    assert_err(import_file(&s, put("corrected.json", text), file, NULL, &second, &err), &err, ERR_INPUT,
               "read in another way (mapping ", "--replace");
    second = imported(&s, in_scratch("corrected.json"), files, 1, &replace);
    assert_int_equal(second.effect, INGEST_REPLACED);
    assert_int_equal(second.key, first.key);
    struct run_data r = must_load(&s, second.key);
    assert_near(r.cells[0].median[METRIC_KERNEL_MS], 20.77, 1e-9);
    run_data_release(&r);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM baseline_run b JOIN run r ON r.id = b.run_id"), 1);
    assert_int_equal(imported(&s, in_scratch("corrected.json"), files, 1, &replace).effect, INGEST_ALREADY);
}

/* As json.dump() of Python and a Windows editor write them. */
TEST(what_python_writes_is_read)
{
    AUTO(store_close) struct store s = open_store("python.db");
    put("python_map.json",
        MAP_HEAD("json", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":{\"at\":\"/t\",\"unit\":\"ms\"}},"
                               "\"extras\":{\"gflops\":{\"at\":\"/g\",\"default\":null}}}");
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, in_scratch("python_map.json"),
                      put("python.json", "\xef\xbb\xbf[{\"k\": \"NaN is a name\", \"t\": NaN},\n {\"k\": "
                                         "\"b\", \"t\": 2.5, \"g\": -Infinity}]"),
                      NULL, 2);
    const struct cell *c = run_data_cell(&r, "NaN_is_a_name", 0);
    assert_non_null(c);
    assert_int_equal(c->status, STATUS_INVALID);
    assert_string_equal(c->reason, "kernel_ms is not finite");
    assert_near(run_data_cell(&r, "b", 0)->median[METRIC_KERNEL_MS], 2.5, 0);
    run_data_release(&r);
    r = import_stored(
        &s, in_scratch("python_map.json"),
        put("lines.jsonl", "\xef\xbb\xbf{\"k\": \"a\", \"t\": 1}\r\n{\"k\": \"a\", \"t\": .5}\r\n"), NULL, 0);
    assert_int_equal(run_data_cell(&r, "a", 0)->ok, 2);
    run_data_release(&r);
    put("mark_map.json", MAP_HEAD("csv", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    r = import_stored(&s, in_scratch("mark_map.json"), put("mark.csv", "\xef\xbb\xbfk,t\na,1\nb,nan\n"), NULL,
                      1);
    assert_int_equal(run_data_cell(&r, "b", 0)->status, STATUS_INVALID);
}

/* The rows are the members of an object, by name; or one line of JSON is one row. */
TEST(rows_may_be_members_of_an_object)
{
    AUTO(store_close) struct store s = open_store("members.db");
    put("members_map.json",
        MAP_HEAD("json", "/results/*") "\"test\":{\"variant\":{\"key\":true},\"kernel_ms\":\"/t\"}}");
    AUTO(run_data_release)
    struct run_data r =
        import_stored(&s, in_scratch("members_map.json"),
                      put("members.json", "{\"results\":{\"v3\":{\"t\":1.5},\"v4\":{\"t\":2}}}"), NULL, 0);
    assert_int_equal(r.n_cells, 2);
    assert_near(run_data_cell(&r, "v3", 0)->median[METRIC_KERNEL_MS], 1.5, 0);
    run_data_release(&r);
    put("line_map.json", MAP_HEAD("json", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    r = import_stored(&s, in_scratch("line_map.json"), put("line.jsonl", "{\"k\":\"v3\",\"t\":1.5}\n"), NULL,
                      0);
    assert_int_equal(r.n_cells, 1);
}

TEST(many_files_are_one_run)
{
    AUTO(store_close) struct store s = open_store("together.db");
    struct err err = {0};
    struct ingest_result result;
    char paths[3][FS_PATH_MAX];
    const char *files[3];
    put("file_map.json", "{\"schema\":\"kernsweep.map/"
                         "1\",\"input\":\"json\",\"rows\":\"\",\"run\":{\"ticket\":{\"const\":\"mine\"},"
                         "\"date\":\"/day\"},\"facts\":{\"driver\":\"/driver\"},"
                         "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    for (int i = 0; i < 3; i++) {
        char name[32], text[128];
        snprintf(name, sizeof name, "one_of_%d.json", i);
        snprintf(text, sizeof text, "{\"k\":\"%s\",\"t\":%d,\"day\":\"2026-02-14\",\"driver\":\"6.8\"}",
                 i ? "v3" : "v4", i + 1);
        snprintf(paths[i], sizeof paths[i], "%s", put(name, text));
        files[i] = paths[i];
    }
    result = imported(&s, in_scratch("file_map.json"), files, 3, NULL);
    assert_int_equal(result.tests, 3);
    struct run_data r = must_load(&s, result.key);
    assert_near(run_data_cell(&r, "v3", 0)->median[METRIC_KERNEL_MS], 2.5, 0);
    assert_int_equal(r.n_facts, 1);
    run_data_release(&r);
    assert_int_equal(imported(&s, in_scratch("file_map.json"), files, 3, NULL).effect, INGEST_ALREADY);
    put("one_of_2.json", "{\"k\":\"v3\",\"t\":1,\"day\":\"2026-02-15\",\"driver\":\"6.8\"}");
    assert_err(import_files(&s, in_scratch("file_map.json"), files, 3, NULL, &result, &err), &err, ERR_INPUT,
               "one_of_2.json: date is \"2026-02-15\"", "2026-02-14");
}

/* Unlike things are compared, and summed, at their own shape only. */
TEST(a_shape_is_part_of_the_cell)
{
    AUTO(store_close) struct store s = open_store("shaped.db");
    put("shape_map.json",
        MAP_HEAD(
            "csv",
            "/*") "\"test\":{\"variant\":\"/kernel\",\"context\":\"/s\",\"point\":{\"b\":\"/b\",\"h\":\"/h\","
                  "\"\":{\"at\":\"/dtype\",\"default\":null}},\"kernel_ms\":\"/ms\"}}");
    AUTO(run_data_release)
    struct run_data r = import_stored(
        &s, in_scratch("shape_map.json"),
        put("shapes.csv", "kernel,b,h,dtype,s,ms\nsdpa,1,8,bf16,512,0.0154\nsdpa,8,16,bf16,512,0.1235\n"
                          "v3,1,8,bf16,512,6.8\nv3,8,16,bf16,512,117.2\n"),
        NULL, 0);
    assert_int_equal(r.n_cells, 4);
    const struct run_variant *v = run_data_variant(&r, "v3_b8_h16_bf16");
    assert_non_null(v);
    assert_string_equal(v->kernel, "v3");
    assert_string_equal(v->shape, "b8_h16_bf16");
    size_t reference = (size_t)(run_data_variant(&r, "sdpa_b1_h8_bf16") - r.variants),
           other = run_data_counterpart(&r, (size_t)(v - r.variants), reference);
    assert_string_equal(r.variants[other].name, "sdpa_b8_h16_bf16");
}

/* One column per variant, as tables in reports have it; an empty field is no test. */
TEST(a_row_may_have_a_column_per_variant)
{
    AUTO(store_close) struct store s = open_store("wide.db");
    struct err err = {0};
    struct import_map m;
    put("wide_map.json",
        MAP_HEAD("csv", "/*") "\"test\":[{\"variant\":{\"const\":\"pytorch\"},\"context\":\"/"
                              "S\",\"kernel_ms\":\"/PyTorch (ms)\"},"
                              "{\"variant\":{\"const\":\"ours\"},\"context\":\"/S\",\"kernel_ms\":{\"at\":\"/"
                              "Ours (ms)\",\"default\":null}}]}");
    struct run_data r = import_stored(
        &s, in_scratch("wide_map.json"),
        put("wide.csv", "S,PyTorch (ms),Ours (ms)\n64,0.025,0.278\n128,0.024,0.543\n192,0.024,\n"), NULL, 0);
    assert_int_equal(r.n_cells, 5);
    assert_near(run_data_cell(&r, "ours", 128)->median[METRIC_KERNEL_MS], 0.543, 0);
    assert_null(run_data_cell(&r, "ours", 192));
    run_data_release(&r);
    assert_err(import_map_load(&m, put("none_map.json", MAP_HEAD("csv", "/*") "\"test\":[]}"), &err), &err,
               ERR_INPUT, "$.test", "1 to 64 tests");
    assert_err(import_map_load(&m,
                               put("none_map.json",
                                   MAP_HEAD("csv", "/*") "\"test\":[{\"variant\":\"/a\",\"point\":\"/b\"}]}"),
                               &err),
               &err, ERR_INPUT, "$.test[0].point", "an object of fields");
}

TEST(pointers_find_nested_values_or_nothing)
{
    struct err err = {0};
    static const char text[] = "{\"a\":[{\"tag\":\"x\",\"v\":1},{\"tag\":\"y/"
                               "z\",\"v\":2},{\"tag\":7,\"v\":3}],\"b~c\":{\"d/e\":4},\"n\":[10,20]}";
    json_t *root = json_parse(text, strlen(text), "text", &err);
    assert_int_equal(json_integer_value(pointer_find(root, "/a/[tag=y~1z]/v", 0)), 2);
    assert_int_equal(json_integer_value(pointer_find(root, "/a/[tag=7]/v", 0)), 3);
    assert_int_equal(json_integer_value(pointer_find(root, "/b~0c/d~1e", 0)), 4);
    assert_int_equal(json_integer_value(pointer_find(root, "/n/#", 1)), 20);
    assert_ptr_equal(pointer_find(root, "", 0), root);
    static const char *const none[] = {"/x",      "/a/9",   "/a/-1", "/a/[tag=q]/v",
                                       "/a/[tag", "/n/#/x", "a",     "/n/1x"};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_null(pointer_find(root, none[i], 9));
    json_decref(root);
}

TEST(units_convert)
{
    double f;
    assert_true(unit_factor("ns", "s", &f));
    assert_near(f, 1e-9, 1e-24);
    assert_true(unit_factor("s", "ms", &f));
    assert_near(f, 1000, 1e-9);
    assert_true(unit_factor("GiB", "bytes", &f));
    assert_near(f, 1073741824, 0);
    assert_true(unit_factor("GFLOP/s", "TFLOP/s", &f));
    assert_near(f, 1e-3, 1e-15);
    assert_false(unit_factor("s", "bytes", &f));
    assert_false(unit_factor("furlong", "s", &f));
}

GROUP(scratch_make, scratch_remove);
