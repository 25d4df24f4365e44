#include "results/query/export.h"

#include "common/base/escape.h"
#include "results/store/revision.h"
#include "results/store/sql.h"

#include "common/base/alloc.h"
#include "common/base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAX = 64 << 20 };

static const char *const format_names[EXPORT_FORMAT_COUNT] = {[EXPORT_CSV] = "csv",
                                                              [EXPORT_JSON] = "json",
                                                              [EXPORT_JSONL] = "jsonl",
                                                              [EXPORT_SQL] = "sql",
                                                              [EXPORT_OPENMETRICS] = "openmetrics"};

bool export_format_from_name(const char *name, enum export_format *out)
{
    for (int i = 0; i < EXPORT_FORMAT_COUNT; i++)
        if (strcmp(format_names[i], name) == 0) {
            *out = (enum export_format)i;
            return true;
        }
    return false;
}

/* The shortest decimal that reads back as the same double. */
static void put_real(struct buf *out, double v)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    buf_puts(out, text);
}

/* A number that is not built in: a column behind the others. */
struct extra_column {
    int64_t quantity;
    char title[LIMIT_NAME + 16];
};

struct row_writer {
    sqlite3_stmt *stmt;
    int columns; /* of stmt that are written; the key of the test follows */
    struct extra_column *extras;
    size_t n_extras;
    struct sql_stmt *value; /* of one extra of one test */
};

static void csv_header(const struct row_writer *w, struct buf *out)
{
    for (int i = 0; i < w->columns; i++)
        buf_printf(out, "%s%s", i ? "," : "", sqlite3_column_name(w->stmt, i));
    for (size_t i = 0; i < w->n_extras; i++)
        buf_printf(out, ",%s", w->extras[i].title);
    buf_putc(out, '\n');
}

/* *out is NaN if the test has no such number. */
static int read_extra(const struct row_writer *w, size_t i, double *out, struct err *err)
{
    sql_reset(w->value);
    sql_bind_int(w->value, ":test", sqlite3_column_int64(w->stmt, w->columns));
    sql_bind_int(w->value, ":quantity", w->extras[i].quantity);
    int rc = sql_step(w->value, err);
    *out = rc > 0 ? sql_col_num(w->value, "value") : (double)NAN;
    sql_reset(w->value);
    return rc < 0 ? -1 : 0;
}

static int csv_extras(const struct row_writer *w, struct buf *out, struct err *err)
{
    for (size_t i = 0; i < w->n_extras; i++) {
        double value;
        if (read_extra(w, i, &value, err) != 0)
            return -1;
        buf_putc(out, ',');
        if (!isnan(value))
            put_real(out, value);
    }
    return 0;
}

static int csv_row(const struct row_writer *w, struct buf *out, struct err *err)
{
    sqlite3_stmt *stmt = w->stmt;
    for (int i = 0; i < w->columns; i++) {
        if (i)
            buf_putc(out, ',');
        switch (sqlite3_column_type(stmt, i)) {
        case SQLITE_NULL:
            break;
        case SQLITE_FLOAT:
            put_real(out, sqlite3_column_double(stmt, i));
            break;
        default: /* integers and texts; SQLite's types are not an enum */
            escape_csv(out, (const char *)sqlite3_column_text(stmt, i));
            break;
        }
    }
    return csv_extras(w, out, err);
}

static json_t *json_value(sqlite3_stmt *stmt, int i)
{
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
        return json_integer(sqlite3_column_int64(stmt, i));
    case SQLITE_FLOAT:
        return json_real(sqlite3_column_double(stmt, i));
    case SQLITE_TEXT:
        return json_string((const char *)sqlite3_column_text(stmt, i));
    default:
        return json_null();
    }
}

static int json_row(const struct row_writer *w, struct buf *out, struct err *err)
{
    json_auto_t *row = json_object();
    for (int i = 0; i < w->columns; i++)
        json_object_set_new(row, sqlite3_column_name(w->stmt, i), json_value(w->stmt, i));
    for (size_t i = 0; i < w->n_extras; i++) {
        double value;
        if (read_extra(w, i, &value, err) != 0)
            return -1;
        json_object_set_new(row, w->extras[i].title, isnan(value) ? json_null() : json_real(value));
    }
    return json_encode(row, out, err);
}

static int flush(struct buf *row, export_sink *sink, void *arg, struct err *err)
{
    if (!buf_ok(row))
        return err_set(err, ERR_INTERNAL, "a row of more than %d bytes", ROW_MAX);
    int rc = sink(arg, buf_str(row), row->len, err);
    buf_clear(row);
    return rc;
}

static bool is_column(const struct row_writer *w, const char *name)
{
    for (int i = 0; i < w->columns; i++)
        if (strcmp(sqlite3_column_name(w->stmt, i), name) == 0)
            return true;
    return false;
}

/* The numbers that the runs have besides the built-in ones, by name. */
static int find_extras(struct store *s, int64_t run_key, struct row_writer *w, struct err *err)
{
    size_t cap = 0;
    static const char of_run[] = "SELECT id, name FROM quantity WHERE id IN (SELECT e.quantity_id FROM test t"
                                 " JOIN extra e ON e.test_id = t.id WHERE t.run_id = :run) ORDER BY name";
    static const char of_any[] = "SELECT id, name FROM quantity q WHERE EXISTS"
                                 " (SELECT 1 FROM extra e WHERE e.quantity_id = q.id) ORDER BY name";
    SQL_STMT stmt = run_key ? sql_prepare_int(s, of_run, ":run", run_key, err) : sql_prepare(s, of_any, err);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(w->extras, w->n_extras + 1, cap);
        struct extra_column *c = &w->extras[w->n_extras++];
        char name[LIMIT_NAME + 1];
        sql_col_text(stmt, "name", name, sizeof name);
        c->quantity = sql_col_int(stmt, "id", 0);
        snprintf(c->title, sizeof c->title, "%s%s", is_column(w, name) ? "printed." : "", name);
    }
    return rc;
}

static int write_rows(struct row_writer *w, struct sql_stmt *stmt, enum export_format format,
                      export_sink *sink, void *arg, struct err *err)
{
    AUTO(buf_release) struct buf row = {.max = ROW_MAX};
    if (format == EXPORT_CSV)
        csv_header(w, &row);
    if (format == EXPORT_JSON)
        buf_puts(&row, "[\n");
    if (flush(&row, sink, arg, err) != 0)
        return -1;
    bool first = true;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        if (format == EXPORT_JSON && !first)
            buf_puts(&row, ",\n");
        first = false;
        if ((format == EXPORT_CSV ? csv_row(w, &row, err) : json_row(w, &row, err)) != 0)
            return -1;
        if (format != EXPORT_JSON)
            buf_putc(&row, '\n');
        if (flush(&row, sink, arg, err) != 0)
            return -1;
    }
    if (rc == 0 && format == EXPORT_JSON)
        return sink(arg, first ? "]\n" : "\n]\n", first ? 2 : 3, err);
    return rc;
}

/* Numbers of different parts of tests are no column: the timed part has the plain name. */
#define IN_PART(column, window, suffix)                                                                      \
    ", CASE WHEN t.activity_window IS " window " THEN t." column " END AS " column suffix
#define IN_PARTS(column)                                                                                     \
    IN_PART(column, "'timed'", "")                                                                           \
    IN_PART(column, "'busy'", "_busy")                                                                       \
    IN_PART(column, "'test'", "_test") IN_PART(column, "NULL", "_untold")

int export_tests(struct store *s, int64_t run_key, enum export_format format, export_sink *sink, void *arg,
                 struct err *err)
{
    static const char text[] =
        "SELECT r.run_id, r.ticket, r.tag, r.date, r.node, r.mode, r.status AS run_status, r.source_sha256,"
        " g.commit_id, g.branch, g.dirty, c.variant, coalesce(t.attn_impl, v.attn_impl) AS attn_impl, "
        "v.code_sha256, v.code_kind, "
        "c.context_len, t.repetition,"
        " t.test_index, t.warmup, t.status"
#define METRIC_TEST(id, name, column, ...) ", t." #column
#define METRIC_SAMPLED(id, name, column, ...) IN_PARTS(#column)
#define METRIC_RATE(id, name, time, column, ...) ", c.context_len / t." #column " AS " #name
#define METRIC_PER_TOKEN(id, name, whole, column, ...)                                                       \
    ", CASE WHEN " RUN_TEST_HAS_TOKENS " THEN t." #column " / c.context_len END AS " #name
#define TEST_NUMBER(column) ", t." #column
#include "results/store/metric.def"
        IN_PARTS("sclk_p5_mhz") IN_PARTS("mclk_mhz") IN_PARTS("mclk_p5_mhz") IN_PARTS("power_w")
            IN_PARTS("temp_c") IN_PARTS(
                "throttled_s") ", t.throttle, t.joules_from,"
                               " t.neighbours, t.activity_window, t.cpu_user_s, t.cpu_system_s, t.timeout_s, "
                               "t.prompt_tokens, "
                               "t.exit_code, t.signal"
#define METRIC_BUILD(id, name, column, ...) ", v." #column
#include "results/store/metric.def"
                               ", t.reason, t.gpu, t.gpu_mode, t.beside, t.compiled, t.contained, v.image, "
                               "v.image_digest, t.id FROM run "
                               "r" REVISION_JOIN
                               "JOIN test t ON t.run_id = r.id JOIN series c ON c.id = t.series_id"
                               " JOIN variant v ON v.run_id = r.id AND v.name = c.variant WHERE (:run IS "
                               "NULL OR r.id = :run)"
                               " ORDER BY r.ordered_at, r.id, v.position, c.context_len, t.repetition";
    SQL_STMT stmt = sql_prepare(s, text, err);
    SQL_STMT value =
        sql_prepare(s, "SELECT value FROM extra WHERE test_id = :test AND quantity_id = :quantity", err);
    sql_bind_int_or_null(stmt, ":run", run_key, 0);
    struct row_writer w = {.stmt = stmt->raw, .columns = sqlite3_column_count(stmt->raw) - 1, .value = value};
    int rc = find_extras(s, run_key, &w, err) == 0 ? write_rows(&w, stmt, format, sink, arg, err) : -1;
    free(w.extras);
    return rc;
}

/* A literal as written by SQLite's quote(), but with all digits of a double. */
static void sql_value(sqlite3_stmt *stmt, int i, struct buf *out)
{
    const char *text;
    const unsigned char *blob;
    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_NULL:
        buf_puts(out, "NULL");
        return;
    case SQLITE_INTEGER:
        buf_puts(out, (const char *)sqlite3_column_text(stmt, i));
        return;
    case SQLITE_FLOAT:
        put_real(out, sqlite3_column_double(stmt, i));
        return;
    case SQLITE_TEXT:
        buf_putc(out, '\'');
        for (text = (const char *)sqlite3_column_text(stmt, i); *text; text++)
            buf_puts(out, *text == '\'' ? "''" : (const char[]){*text, '\0'});
        buf_putc(out, '\'');
        return;
    default:
        blob = sqlite3_column_blob(stmt, i);
        buf_puts(out, "X'");
        for (int n = 0; n < sqlite3_column_bytes(stmt, i); n++)
            buf_printf(out, "%02x", blob[n]);
        buf_putc(out, '\'');
        return;
    }
}

static int dump_table(struct store *s, const char *into, const char *query, export_sink *sink, void *arg,
                      struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, query, err);
    AUTO(buf_release) struct buf row = {.max = ROW_MAX};
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        buf_puts(&row, into);
        for (int i = 0; i < sqlite3_column_count(stmt->raw); i++) {
            buf_puts(&row, i ? "," : "(");
            sql_value(stmt->raw, i, &row);
        }
        buf_puts(&row, ");\n");
        if (flush(&row, sink, arg, err) != 0)
            return -1;
    }
    return rc;
}

static int dump_schema(struct store *s, export_sink *sink, void *arg, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
                    " ORDER BY type = 'index', rowid",
                    err);
    AUTO(buf_release) struct buf text = {.max = ROW_MAX};
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        buf_printf(&text, "%s;\n", sql_col_str(stmt, "sql", NULL));
    return rc == 0 ? flush(&text, sink, arg, err) : -1;
}

/* Parents come before their children. */
static const struct dumped {
    const char *table, *into, *query;
} dumped[] = {
#define DUMPED(table, order)                                                                                 \
    {                                                                                                        \
        table, "INSERT INTO " table " VALUES", "SELECT * FROM " table " ORDER BY " order                     \
    }
    DUMPED("environment", "id"),
    DUMPED("fact", "environment_id, key"),
    DUMPED("document", "id"),
    DUMPED("run", "id"),
    DUMPED("variant", "run_id, position"),
    DUMPED("gate", "run_id, variant, position"),
    DUMPED("kernel_code", "run_id, variant, kernel"),
    DUMPED("run_revision", "run_id"),
    DUMPED("git_commit", "commit_id"),
    DUMPED("counter", "run_id, variant, context_len, kernel, name"),
    DUMPED("cause", "run_id, base_id, variant, context_len, position"),
    DUMPED("bisect", "id"),
    DUMPED("removed_run", "run_id"),
    DUMPED("run_metric", "run_id, position"),
    DUMPED("unmeasured", "run_id, variant, context_len"),
    DUMPED("fingerprint", "run_id, variant, context_len"),
    DUMPED("file", "run_id, path"),
    DUMPED("series", "id"),
    DUMPED("test", "id"),
    DUMPED("quantity", "id"),
    DUMPED("extra", "test_id, quantity_id"),
    DUMPED("telemetry", "test_id"),
    DUMPED("baseline", "id"),
    DUMPED("baseline_run", "baseline_id, run_id"),
    DUMPED("noise", "series_id, metric"),
    DUMPED("together", "series_id, metric"),
    DUMPED("confirmation", "run_id, base_id, variant, context_len"),
    DUMPED("acceptance", "run_id, variant, context_len, metric"),
    DUMPED("note", "ticket, run_id, section, lang"),
#undef DUMPED
};

/* Guards against a table that a migration added and `dumped` lacks. */
static int check_list(struct store *s, struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        s, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", err);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        const char *name = sql_col_str(stmt, "name", NULL);
        size_t i = 0;
        while (i < sizeof dumped / sizeof *dumped && strcmp(dumped[i].table, name) != 0)
            i++;
        if (i == sizeof dumped / sizeof *dumped)
            return err_set(err, ERR_INTERNAL, "%s: the export does not know table %s", s->path, name);
    }
    return rc;
}

static int dump_all(struct store *s, export_sink *sink, void *arg, struct err *err)
{
    char head[256];
    snprintf(head, sizeof head,
             "-- kernsweep store\nPRAGMA auto_vacuum = INCREMENTAL;\nPRAGMA foreign_keys = OFF;\nBEGIN;\n"
             "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n",
             STORE_APPLICATION_ID, store_version_known());
    if (check_list(s, err) != 0 || sink(arg, head, strlen(head), err) != 0 ||
        dump_schema(s, sink, arg, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof dumped / sizeof *dumped; i++)
        if (dump_table(s, dumped[i].into, dumped[i].query, sink, arg, err) != 0)
            return -1;
    return sink(arg, "COMMIT;\n", 8, err);
}

int export_sql(struct store *s, export_sink *sink, void *arg, struct err *err)
{
    if (sql_exec(s, "BEGIN", err) != 0)
        return -1;
    int rc = dump_all(s, sink, arg, err);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}
