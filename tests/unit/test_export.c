/* export, query and maintain: what leaves the store is what is in it, and nothing gets in that way. */
#include "tests/unit/results_support.h"

#include "results/query/export.h"
#include "results/query/openmetrics.h"
#include "results/store/maintain.h"
#include "results/store/query.h"

static int collect(void *arg, const char *data, size_t len, struct err *err)
{
    (void)err;
    buf_add(arg, data, len);
    return 0;
}

static int refuse(void *arg, const char *data, size_t len, struct err *err)
{
    (void)arg;
    (void)data;
    (void)len;
    return err_set(err, ERR_STORAGE, "disk full");
}

static int64_t fill(struct store *s)
{
    int64_t key = must_ingest(s, make_bundle("exported", "run-exported"), NULL);
    struct draft d;
    draft_night(&d, 400);
    struct run_test *t = draft_shot(&d, "odd", 4096, 1, 1.0 / 3);
    t->status = STATUS_FAIL;
    t->reason = "exit 1, \"it's\nbroken\"";
    must_store(s, &d);
    return key;
}

TEST(csv_quotes_what_needs_it)
{
    AUTO(store_close) struct store s = open_store("csv.db");
    struct err err = {0};
    struct buf out;
    fill(&s);
    buf_init(&out, 1 << 20);
    assert_ok(export_tests(&s, 0, EXPORT_CSV, collect, &out, &err), &err);
    assert_memory_equal(out.data, "run_id,ticket,", 14);
    assert_non_null(strstr(out.data, "\"exit 1, \"\"it's\nbroken\"\"\""));
    assert_non_null(strstr(out.data, ",0.3333333333333333,"));
    size_t lines = 0;
    for (const char *p = out.data; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 1 + 8 + 1 + 1);
    buf_release(&out);
    assert_err(export_tests(&s, 0, EXPORT_CSV, refuse, NULL, &err), &err, ERR_STORAGE, "disk full");
}

TEST(openmetrics_names_units_and_ends)
{
    AUTO(store_close) struct store s = open_store("openmetrics.db");
    struct err err = {0};
    struct buf one, all;
    int64_t key = fill(&s);
    buf_init(&one, 1 << 20);
    buf_init(&all, 1 << 20);
    assert_ok(openmetrics_export(&s, key, collect, &one, &err), &err);
    assert_ok(openmetrics_export(&s, 0, collect, &all, &err), &err);
    const char *head =
        "# TYPE kernsweep_prefill_seconds gauge\n# UNIT kernsweep_prefill_seconds seconds\n# HELP ";
    const char *first = strstr(buf_str(&one), head), *later = first ? strstr(first + 1, head) : first;
    assert_non_null(first);
    assert_null(later);
    assert_non_null(strstr(buf_str(&one), ",context=\"512\"} "));
    assert_null(strstr(buf_str(&one), ".000\n")); /* a single run has no timestamps */
    assert_string_equal(buf_str(&one) + one.len - 6, "# EOF\n");
    assert_string_equal(buf_str(&all) + all.len - 6, "# EOF\n");
    assert_err(openmetrics_export(&s, key, refuse, NULL, &err), &err, ERR_STORAGE, "disk full");
    buf_release(&one);
    buf_release(&all);
}

/* A name of a node may hold anything. */
TEST(openmetrics_escapes_labels_and_times_nights)
{
    AUTO(store_close) struct store s = open_store("labels.db");
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = 1 << 20};
    for (int day = 1; day <= 3; day++) {
        struct draft d;
        draft_night(&d, 400 + day);
        draft_shot(&d, "v1", 4096, 1, 0.5);
        snprintf(d.info.node, sizeof d.info.node, "a \"b\" \\c");
        must_store(&s, &d);
    }
    assert_ok(openmetrics_export(&s, 0, collect, &out, &err), &err);
    const char *label = strstr(buf_str(&out), "node=\"a \\\"b\\\" \\\\c\"");
    assert_non_null(label);
    double before = 0;
    int nights = 0;
    for (const char *line = label; line && nights < 3; line = strchr(line, '\n') + 1, nights++) {
        const char *value = strchr(line, '}') + 2;
        double when = strtod(strchr(value, ' '), NULL);
        assert_true(when > before);
        before = when;
    }
    assert_int_equal(nights, 3);
}

TEST(json_comes_back_the_same)
{
    AUTO(store_close) struct store s = open_store("json.db");
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = 1 << 20};
    int64_t key = fill(&s);
    assert_ok(export_tests(&s, key, EXPORT_JSON, collect, &out, &err), &err);
    json_t *rows = json_parse(out.data, out.len, "export", &err);
    assert_int_equal(json_array_size(rows), 8);
    const json_t *row = json_array_get(rows, 7);
    assert_string_equal(json_string_value(json_object_get(row, "variant")), "v3");
    assert_near(json_real_value(json_object_get(row, "prefill_s")), 1.02, 0);
    assert_near(json_real_value(json_object_get(row, "tok_per_s")), 512 / 1.02, 1e-9);
    assert_true(json_is_null(json_object_get(row, "kernel_ms")));
    json_decref(rows);
    buf_clear(&out);
    assert_ok(export_tests(&s, 0, EXPORT_JSONL, collect, &out, &err), &err);
    size_t lines = 0;
    for (char *save = NULL, *line = strtok_r(out.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        rows = json_parse(line, strlen(line), "line", &err);
        assert_true(json_is_object(rows));
        json_decref(rows);
        lines++;
    }
    assert_int_equal(lines, 9);
}

TEST(an_sql_dump_is_a_store)
{
    struct store s = open_store("dumped.db"), again;
    struct err err = {0};
    struct buf first, second;
    sqlite3 *db;
    fill(&s);
    buf_init(&first, 1 << 22);
    buf_init(&second, 1 << 22);
    assert_ok(export_sql(&s, collect, &first, &err), &err);
    store_close(&s);
    assert_int_equal(sqlite3_open(in_scratch("restored.db"), &db), SQLITE_OK);
    if (sqlite3_exec(db, buf_str(&first), NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    assert_ok(store_open(&again, in_scratch("restored.db"), STORE_READ, &err), &err);
    assert_ok(export_sql(&again, collect, &second, &err), &err);
    assert_string_equal(buf_str(&first), buf_str(&second));
    store_close(&again);
    buf_release(&first);
    buf_release(&second);
}

static int count_row(void *arg, const struct query_row *row, struct err *err)
{
    (void)row;
    (void)err;
    ++*(int *)arg;
    return 0;
}

static int first_value(void *arg, const struct query_row *row, struct err *err)
{
    (void)err;
    snprintf(arg, 64, "%s", row->values[0] ? row->values[0] : "NULL");
    return 0;
}

TEST(questions_are_answered_and_orders_refused)
{
    static const char *const orders[] = {
        "DELETE FROM run",
        "INSERT INTO quantity (name) VALUES ('x')",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "ATTACH DATABASE '/tmp/other.db' AS other",
        "CREATE TEMP TABLE x (y)",
        "VACUUM INTO '/tmp/copy.db'",
        "BEGIN IMMEDIATE",
        "SELECT 1; DELETE FROM run",
        "SELECT load_extension('/tmp/x.so')",
        "",
        "SELECT FROM",
    };
    AUTO(store_close) struct store s = open_store("asked.db");
    struct err err = {0};
    char value[64];
    int rows = 0;
    fill(&s);
    assert_ok(query_run(&s, "SELECT run_id FROM run", 10, NULL, count_row, &rows, &err), &err);
    assert_int_equal(rows, 2);
    assert_ok(query_run(&s, "SELECT max(prefill_s) FROM test; ", 10, NULL, first_value, value, &err), &err);
    assert_string_equal(value, "2.02");
    assert_ok(query_run(&s, "SELECT x'00ff'", 10, NULL, first_value, value, &err), &err);
    assert_string_equal(value, "X'00ff'");
    for (size_t i = 0; i < COUNT(orders); i++)
        assert_err(query_run(&s, orders[i], 10, NULL, count_row, &rows, &err), &err, ERR_INPUT, "sql:");
    assert_err(
        query_run(&s,
                  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
                  0.05, NULL, count_row, &rows, &err),
        &err, ERR_INPUT, "longer than 0.05 s");
    assert_int_equal(query_int(&s, "SELECT count(*) FROM run"), 2);
}

static void count_problem(void *arg, const char *what)
{
    assert_true(strlen(what) > strlen("reference: "));
    ++*(int *)arg;
}

TEST(a_check_finds_what_is_wrong)
{
    AUTO(store_close) struct store s = open_store("checked.db");
    struct err err = {0};
    struct check_result r;
    int problems = 0;
    fill(&s);
    assert_ok(store_check(&s, count_problem, &problems, &r, &err), &err);
    assert_int_equal(problems, 0);
    assert_int_equal(r.runs, 2);
    assert_int_equal(r.tests, 9);
    assert_int_equal(r.samples, 24);
    sqlite3_exec(s.db,
                 "PRAGMA foreign_keys = OFF; UPDATE telemetry SET packed = x'0102' WHERE test_id = 1;"
                 "UPDATE telemetry SET samples = 2 WHERE test_id = 2; DELETE FROM variant WHERE name = 'v3';"
                 "UPDATE series SET node = 'elsewhere' WHERE variant = 'odd';"
                 "INSERT INTO extra VALUES (999, 1, 1.0)",
                 NULL, NULL, NULL);
    assert_ok(store_check(&s, count_problem, &problems, &r, &err), &err);
    assert_int_equal(r.problems, problems);
    assert_int_equal(problems, 5);
}

TEST(vacuum_drops_what_nobody_uses)
{
    AUTO(store_close) struct store s = open_store("vacuumed.db");
    struct err err = {0};
    struct vacuum_need need;
    int64_t key = fill(&s);
    char sql[64];
    snprintf(sql, sizeof sql, "DELETE FROM run WHERE id = %lld", (long long)key);
    sqlite3_exec(s.db, sql, NULL, NULL, NULL);
    assert_ok(store_vacuum_begin(&s, &need, &err), &err);
    assert_ok(store_vacuum(&s, &need, NULL, NULL, &err), &err);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM environment"), 1);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM document"), 0);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM series"), 1);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM quantity"), 0);
    assert_int_equal(query_int(&s, "SELECT count(*) FROM test"), 1);
}

GROUP(scratch_make, scratch_remove);
