/* import: what cannot be mapped is named, and values that cannot be right are not believed. */
#include "tests/unit/import_support.h"

#include <sys/stat.h>

/* A row that says the wrong thing, and the words that must be in the message. */
TEST(what_cannot_be_mapped_is_named)
{
    static const struct {
        const char *csv, *says[3];
    } cases[] = {
        {"kernel,n,time,unit,mem\na,4096,1,s,1\na,4096,fast,s,1\n",
         {"bad.csv: /1:", "\"fast\"", "test.prefill_s"}},
        {"kernel,n,time,unit,mem\na,many,1,s,1\n", {"/0:", "\"many\"", "test.context"}},
        {"kernel,n,time,unit,mem\na,-1,1,s,1\n", {"/0:", "-1", "test.context"}},
        {"kernel,n,time,unit,mem\na,1,1,parsec,1\n", {"/0:", "\"parsec\"", "test.prefill_s"}},
        {"kernel,n,time,unit,mem\na,nan,1,s,1\n", {"/0:", "nan", "test.context"}},
        {"kernel,n,time,unit,mem\na,1,,s,1\n", {"/0:", "/time is missing", "test.prefill_s"}},
        {"kernel,n,unit,mem\na,1,s,1\n", {"/0:", "/time is missing", "test.prefill_s"}},
        {"kernel,n,time,unit,mem\na,1,1,s\n", {"line 2", "4 fields", "5"}},
        {"kernel,n,time,unit,mem\n\"a,1,1,s,1\n", {"line", "unterminated", "bad.csv"}},
        {"kernel,n,time,unit,mem\n", {"bad.csv", "no row", "/*"}},
    };
    AUTO(store_close) struct store s = open_store("bad.db");
    struct err err = {0};
    put("own.json", OWN_MAP);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct ingest_result result;
        const char *file = put("bad.csv", cases[i].csv);
        assert_err(import_file(&s, in_scratch("own.json"), file, NULL, &result, &err), &err, ERR_INPUT,
                   cases[i].says[0], cases[i].says[1], cases[i].says[2]);
    }
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 0);
}

TEST(bad_mappings_are_refused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"{", "not valid JSON"},
        {"{\"schema\":\"kernsweep.map/1\",\"input\":\"json\",\"rows\":\"/*\"}", "$.test"},
        {"{\"schema\":\"kernsweep.map/9\",\"input\":\"json\",\"rows\":\"/*\",\"test\":{\"variant\":\"/a\"}}",
         "map/9"},
        {"{\"schema\":\"kernsweep.map/1\",\"input\":\"xml\",\"rows\":\"/*\",\"test\":{\"variant\":\"/a\"}}",
         "xml"},
        {"{\"schema\":\"kernsweep.map/1\",\"input\":\"json\",\"rows\":\"/*\",\"tset\":{}}",
         "did you mean \"test\""},
        {"{\"schema\":\"kernsweep.map/1\",\"input\":\"json\",\"rows\":\"/*\",\"test\":{\"variant\":\"/"
         "a\",\"shpae\":\"/b\"}}",
         "$.test: unknown key \"shpae\" (did you mean \"shape\"?)"},
        {"{\"schema\":\"kernsweep.map/1\",\"input\":\"json\",\"rows\":\"/*\",\"test\":{\"variant\":\"/"
         "a\",\"kernel_ms\":{\"at\":\"/t\","
         "\"untis\":\"us\"}}}",
         "$.test.kernel_ms: unknown key \"untis\" (did you mean \"unit\"?)"},
        {"{\"schema\":\"kernsweep.map/1\",\"input\":\"json\",\"rows\":\"/*\",\"test\":{\"variant\":\"/"
         "a\",\"kernel_ms\":7}}",
         "$.test.kernel_ms: expected a field"},
    };
    struct err err = {0};
    struct import_map m;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_err(import_map_load(&m, put("bad.json", cases[i].text), &err), &err, ERR_INPUT, "bad.json",
                   cases[i].says);
    assert_err(import_map_load(&m, "no-such-map", &err), &err, ERR_INPUT, "no-such-map", "--list");
}

TEST(merged_rows_are_pointed_out)
{
    AUTO(store_close) struct store s = open_store("merged.db");
    const struct import_options day = {.date = "2026-02-14"};
    const char *file =
        put("same.json", "{\"results\":[{\"command\":\"x\",\"times\":[1,2],\"exit_codes\":[0,0]},"
                         "{\"command\":\"x\",\"times\":[5],\"exit_codes\":[0]}]}");
    AUTO(run_data_release) struct run_data r = import_stored(&s, "hyperfine", file, &day, 1);
    assert_int_equal(r.cells[0].ok, 3);
}

/* They become one cell, whose repetitions are of two programs. */
TEST(different_names_that_become_one_are_told)
{
    AUTO(store_close) struct store s = open_store("alike.db");
    put("alike_map.json", MAP_HEAD("csv", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    AUTO(run_data_release)
    struct run_data r = import_stored(&s, in_scratch("alike_map.json"),
                                      put("alike.csv", "k,t\ngemm<f32>,1\ngemm<f32>,1\ngemm(f32),2\n"
                                                       "gemm<f32>,1\ngemm_f32_,3\nother,1\n"),
                                      NULL, 1);
    assert_int_equal(run_data_cell(&r, "gemm_f32_", 0)->ok, 5);
}

/* A timer that ran backwards or never ran. Of a test that failed, nobody reads it. */
TEST(a_time_that_is_not_above_zero_is_not_believed)
{
    AUTO(store_close) struct store s = open_store("times.db");
    put("times_map.json",
        MAP_HEAD("csv", "/*") "\"test\":{\"variant\":\"/k\",\"status\":\"/s\",\"prefill_s\":\"/t\","
                              "\"wall_s\":\"/w\"}}");
    struct run_data r = import_stored(&s, in_scratch("times_map.json"),
                                      put("times.csv", "k,s,t,w\na,OK,0,3\nb,OK,-1,3\nc,OK,1,0\n"
                                                       "d,CRASH,0,0\ne,OK,1,3\n"),
                                      NULL, 4); /* c's prefill_s is longer than its wall time, too */
    assert_string_equal(run_data_cell(&r, "a", 0)->reason, "prefill_s is not above 0");
    assert_int_equal(run_data_cell(&r, "a", 0)->status, STATUS_INVALID);
    assert_int_equal(run_data_cell(&r, "b", 0)->status, STATUS_INVALID);
    assert_string_equal(run_data_cell(&r, "c", 0)->reason, "wall_s is not above 0");
    assert_int_equal(run_data_cell(&r, "d", 0)->status, STATUS_CRASH);
    assert_int_equal(run_data_cell(&r, "e", 0)->status, STATUS_OK);
    assert_true(isnan(run_data_cell(&r, "e", 0)->median[METRIC_TOK_PER_S])); /* no tokens are known */
    run_data_release(&r);
}

/* What is too much ends at the value that is too many; what is no file is not opened for reading. */
TEST(limits_are_met_while_reading)
{
    enum { LINES = 2000001, COLUMNS = 1000, TESTS = 20001 };
    AUTO(store_close) struct store s = open_store("limits.db");
    AUTO(buf_release) struct buf text = {.max = 1 << 24};
    struct err err = {0};
    struct ingest_result result;
    put("json.json", MAP_HEAD("json", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    put("csv.json", MAP_HEAD("csv", "/*") "\"test\":{\"variant\":\"/k\",\"kernel_ms\":\"/t\"}}");
    for (int i = 0; i < LINES; i++)
        buf_puts(&text, "1\n");
    assert_err(
        import_file(&s, in_scratch("json.json"), put("lines.jsonl", buf_str(&text)), NULL, &result, &err),
        &err, ERR_INPUT, "lines.jsonl", "more than 2000000 JSON values");
    buf_clear(&text);
    for (int i = 0; i < COLUMNS; i++)
        buf_printf(&text, "%sc%d", i ? "," : "", i);
    for (int row = 0; row < LINES / COLUMNS + 1; row++) {
        buf_putc(&text, '\n');
        for (int i = 1; i < COLUMNS; i++)
            buf_putc(&text, ',');
    }
    assert_err(
        import_file(&s, in_scratch("csv.json"), put("fields.csv", buf_str(&text)), NULL, &result, &err), &err,
        ERR_INPUT, "line 2001", "more than 2000000 fields");
    buf_clear(&text);
    buf_puts(&text, "k,t\n");
    for (int i = 0; i < TESTS; i++)
        buf_puts(&text, "a,1\n");
    assert_err(import_file(&s, in_scratch("csv.json"), put("tests.csv", buf_str(&text)), NULL, &result, &err),
               &err, ERR_INPUT, "more than 20000 tests", "import parts of the file");
    assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
    assert_err(import_file(&s, in_scratch("csv.json"), in_scratch("pipe"), NULL, &result, &err), &err,
               ERR_INPUT, "pipe", "not a regular file");
    assert_err(import_file(&s, in_scratch("csv.json"), "/dev/zero", NULL, &result, &err), &err, ERR_INPUT,
               "/dev/zero", "not a regular file");
}

GROUP(scratch_make, scratch_remove);
