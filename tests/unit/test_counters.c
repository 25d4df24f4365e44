/* counters: the tables of both profilers as they write them, also damaged; what differs most between two
 * builds; the profilers' command lines; and who may count.
 */
#include "tests/unit/results_support.h"

#include "common/contract/counters.h"
#include "executor/run/profile.h"
#include "results/ingest/bundle/counters_csv.h"
#include "results/judge/counter_changes.h"

static const char *const memory[] = {"dram__bytes_read.sum", "lts__t_sectors.sum", NULL};

static const struct counter *find(const struct counter_list *l, const char *kernel, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->items[i].kernel, kernel) == 0 && strcmp(l->items[i].name, name) == 0)
            return &l->items[i];
    return NULL;
}

static int parse(const char *text, struct counter_list *out, struct err *err)
{
    *out = (struct counter_list){0};
    *err = (struct err){0};
    return counters_parse(text, strlen(text), "table.csv", memory, "v", 16, out, err);
}

/* As Nsight Compute 2025 wrote it on an H100: three launches of one kernel, with hundreds of columns. */
TEST(the_table_of_ncu_is_read)
{
    struct err err = {0};
    AUTO(counter_list_release) struct counter_list l = {0};
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    assert_ok(fs_read_file("tests/fixtures/counters/ncu_h100.csv", text.max, &text, &err), &err);
    assert_ok(parse(buf_str(&text), &l, &err), &err);
    const struct counter *c =
        find(&l, "gather(const float *, float *, unsigned long)", "dram__bytes_read.sum");
    assert_int_equal(l.count, 2);
    assert_non_null(c);
    assert_string_equal(c->unit, "byte");
    assert_string_equal(c->variant, "v");
    assert_int_equal(c->context, 16);
    assert_true(c->value > 4.29e9 && c->value < 4.3e9);
}

TEST(launches_of_a_kernel_are_averaged)
{
    struct err err;
    AUTO(counter_list_release) struct counter_list l = {0};
    assert_ok(parse("==PROF== Connected\n"
                    "\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\",\"dram__bytes_read.max\"\n"
                    "\"\",\"\",\"byte\",\"byte\"\n"
                    "\"0\",\"f(\"\"a\"\", int)\",\"1,000\",\"1\"\n"
                    "==WARNING== something in between\n"
                    "\"1\",\"f(\"\"a\"\", int)\",\"2,000.5\",\"1\"\n"
                    "\"2\",\"g\",\"n/a\",\"1\"\n"
                    "\"3\",\"\033[2Jh\",\"7\",\"1\"\n"
                    "\"4\",\"a decimal comma\",\"15,72\",\"1\"\n"
                    "\"5\",\"a decimal comma\",\"1.234,567\",\"1\"\n",
                    &l, &err),
              &err);
    assert_int_equal(l.count, 2);
    assert_near(find(&l, "f(\"a\", int)", "dram__bytes_read.sum")->value, 1500.25, 1e-9);
    assert_near(find(&l, "\\x1b[2Jh", "dram__bytes_read.sum")->value, 7, 0);
}

TEST(the_table_of_rocprofv3_is_read)
{
    struct err err;
    AUTO(counter_list_release) struct counter_list l = {0};
    assert_ok(parse("\"Dispatch_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"\n"
                    "1,\"k(float*, int)\",\"FETCH_SIZE\",10.000000\n"
                    "1,\"k(float*, int)\",\"WRITE_SIZE\",1.000000\n"
                    "2,\"k(float*, int)\",\"FETCH_SIZE\",30.000000\n",
                    &l, &err),
              &err);
    assert_int_equal(l.count, 2);
    assert_near(find(&l, "k(float*, int)", "FETCH_SIZE")->value, 20, 1e-9);
}

static const char rocpd_3[] = "tests/fixtures/rocpd/3.0.sql", rocpd_4[] = "tests/fixtures/rocpd/4.1.sql";

/* Makes a database of a file with SQL, followed by more of it, and reads its counters. */
static int parse_database(const char *file, const char *more, struct counter_list *out, struct err *err)
{
    AUTO(buf_release) struct buf sql = {.max = 1 << 20};
    sqlite3 *db;
    sqlite3_int64 size;
    *out = (struct counter_list){0};
    *err = (struct err){0};
    assert_ok(fs_read_file(file, sql.max, &sql, err), err);
    buf_puts(&sql, more);
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (sqlite3_exec(db, buf_str(&sql), NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    int rc = counters_parse((const char *)bytes, (size_t)size, "counters.db", memory, "v", 16, out, err);
    sqlite3_free(bytes);
    sqlite3_close(db);
    return rc;
}

TEST(the_databases_of_rocprofv3_are_read)
{
    static const char *const files[] = {rocpd_3, rocpd_4};
    for (size_t i = 0; i < COUNT(files); i++) {
        struct err err;
        AUTO(counter_list_release) struct counter_list l = {0};
        assert_ok(parse_database(files[i], "", &l, &err), &err);
        assert_int_equal(l.count, 2);
        assert_near(find(&l, "attention(float*, int)", "FETCH_SIZE")->value, 2000, 1e-9);
        assert_near(find(&l, "attention(float*, int)", "WRITE_SIZE")->value, 8, 1e-9);
    }
}

/* Views are somebody else's SQL. */
TEST(databases_that_do_more_are_refused)
{
    static const char replaced[] = "DROP VIEW counters_collection; CREATE VIEW counters_collection AS ";
    static const struct {
        const char *view, *says;
    } bad[] = {
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS kernel_name, 'c' AS"
         " counter_name, 1 AS value FROM n",
         "more than 200000 rows"},
        {"SELECT 'k' AS kernel_name, 'c' AS counter_name, length(zeroblob(100000000)) AS value", "too big"},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT hex(zeroblob(400000)) || i "
         "AS"
         " kernel_name, 'c' AS counter_name, 1 AS value FROM n",
         "more than 256 MiB"},
        {"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT hex(zeroblob(100000)) || i "
         "AS"
         " kernel_name, 'c' AS counter_name, 1 AS value FROM n ORDER BY 1",
         "out of memory"},
        {"SELECT load_extension('/tmp/x') AS kernel_name, 'c' AS counter_name, 1 AS value", "load_extension"},
        {"SELECT * FROM nowhere", "counters.db"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct err err;
        char more[512];
        AUTO(counter_list_release) struct counter_list l = {0};
        snprintf(more, sizeof more, "%s%s;", replaced, bad[i].view);
        assert_err(parse_database(rocpd_3, more, &l, &err), &err, ERR_INPUT, bad[i].says);
    }
}

TEST(a_damaged_database_is_refused)
{
    struct err err = {0};
    AUTO(counter_list_release) struct counter_list l = {0};
    char bytes[8192] = "SQLite format 3";
    assert_err(counters_parse(bytes, sizeof bytes, "counters.db", memory, "v", 16, &l, &err), &err, ERR_INPUT,
               "counters.db");
}

TEST(other_tables_are_refused)
{
    struct err err;
    AUTO(counter_list_release) struct counter_list l = {0};
    assert_err(parse("a,b\n1,2\n", &l, &err), &err, ERR_INPUT, "table.csv",
               "not a table of ncu or rocprofv3");
    assert_err(parse("\"ID\",\"Kernel Name\"\n\"0\"\n", &l, &err), &err, ERR_INPUT, "line 2");
    assert_ok(parse("==ERROR== no kernels were profiled\n", &l, &err), &err);
    assert_int_equal(l.count, 0);
}

static void put_counter(struct counter_list *l, const char *variant, const char *kernel, const char *name,
                        double value)
{
    struct counter *c = counter_list_add(l);
    snprintf(c->variant, sizeof c->variant, "%s", variant);
    snprintf(c->kernel, sizeof c->kernel, "%s", kernel);
    snprintf(c->name, sizeof c->name, "%s", name);
    c->value = value;
}

TEST(what_differs_most_comes_first)
{
    AUTO(counter_list_release) struct counter_list base = {0}, now = {0};
    struct counter_changes c;
    put_counter(&base, "a", "k", "doubled", 10);
    put_counter(&base, "a", "k", "quartered", 100);
    put_counter(&base, "a", "k", "same", 5);
    put_counter(&base, "a", "k", "almost", 1000);
    put_counter(&base, "a", "k", "from_zero", 0);
    put_counter(&base, "a", "gone", "doubled", 1);
    put_counter(&base, "b", "k", "doubled", 1);
    put_counter(&now, "a", "k", "doubled", 20);
    put_counter(&now, "a", "k", "quartered", 25);
    put_counter(&now, "a", "k", "same", 5);
    put_counter(&now, "a", "k", "almost", 1010);
    put_counter(&now, "a", "k", "from_zero", 3);
    put_counter(&now, "a", "new", "doubled", 2);
    put_counter(&now, "b", "k", "doubled", 2);
    counters_differ(&base, &now, &c);
    assert_int_equal(c.count, 4);
    assert_string_equal(c.items[0].now->name, "from_zero");
    assert_string_equal(c.items[1].now->name, "quartered");
    assert_near(c.items[1].ratio, 0.25, 1e-12);
    assert_string_equal(c.items[2].now->name, "doubled");
    assert_string_equal(c.items[3].now->variant, "b");
    counter_changes_release(&c);
    for (int i = 0; i < COUNTER_CHANGES_MAX + 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "more%d", i);
        put_counter(&base, "c", "k", name, 1);
        put_counter(&now, "c", "k", name, 2 + i);
    }
    counters_differ(&base, &now, &c);
    assert_int_equal(c.count, 4 + COUNTER_CHANGES_MAX);
    counter_changes_release(&c);
}

TEST(counters_of_a_run_come_back)
{
    struct err err = {0};
    AUTO(store_close) struct store s = open_store("counters.db");
    struct draft d;
    struct counter_list l;
    draft_night(&d, 0);
    draft_shot(&d, "a", 4096, 1, 10.0);
    snprintf(d.info.source_sha256, sizeof d.info.source_sha256, "%064d", 7);
    int64_t night = must_store(&s, &d);
    assert_ok(counters_of_build(&s, night, &l, &err), &err);
    assert_int_equal(l.count, 0);
    draft_night(&d, 1);
    draft_shot(&d, "a", 4096, 1, 10.0);
    d.info.purpose = PURPOSE_CONFIRM;
    snprintf(d.info.source_sha256, sizeof d.info.source_sha256, "%064d", 7);
    put_counter(&d.counters, "a", "k", "reads", 12.5);
    put_counter(&d.counters, "a", "k", "reads", 13);
    must_store(&s, &d);
    assert_ok(counters_of_build(&s, night, &l, &err), &err);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.items[0].variant, "a");
    assert_near(l.items[0].value, 12.5, 0);
    counter_list_release(&l);
    draft_night(&d, 2);
    draft_shot(&d, "a", 4096, 1, 10.0);
    snprintf(d.info.source_sha256, sizeof d.info.source_sha256, "%064d", 8);
    int64_t other = must_store(&s, &d);
    assert_ok(counters_of_build(&s, other, &l, &err), &err);
    assert_int_equal(l.count, 0);
}

TEST(commands_name_what_is_counted)
{
    struct counters c = {.on = true, .name = {"a__b.sum", "c__d"}, .count = 2};
    struct strvec argv = {0};
    AUTO(buf_release) struct buf line = {.max = 4096};
    profiler_command(&c, COUNTERS_NCU, "/out/x.csv", "/out", &argv);
    for (size_t i = 0; i < argv.n; i++)
        buf_printf(&line, "%s ", argv.v[i]);
    assert_string_equal(buf_str(&line),
                        "ncu --csv --page raw --print-units base --metrics a__b.sum,c__d --clock-control none"
                        " --target-processes all --log-file /out/x.csv ");
    strvec_release(&argv);
    buf_clear(&line);
    c.count = 0;
    profiler_command(&c, COUNTERS_ROCPROFV3, "/out/x.csv", "/out", &argv);
    for (size_t i = 0; i < argv.n; i++)
        buf_printf(&line, "%s ", argv.v[i]);
    assert_string_equal(buf_str(&line),
                        "rocprofv3 --pmc FETCH_SIZE WRITE_SIZE --output-format csv -d /out -o counters -- ");
    strvec_release(&argv);
}

TEST(the_driver_says_who_may_count)
{
    assert_true(profiler_is_admin_only("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n"));
    assert_false(profiler_is_admin_only("RmProfilingAdminOnly: 0\n"));
    assert_false(profiler_is_admin_only(""));
}

GROUP(scratch_make, scratch_remove);
