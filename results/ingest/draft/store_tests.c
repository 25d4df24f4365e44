#include "results/ingest/draft/store_tests.h"

#include "results/store/activity_sql.h"
#include "results/store/metric_sql.h"
#include "results/store/when.h"

#include <string.h>

/* Tests are sorted by variant and context, and so are the rows of `series` for one variant: they are merged.
 */
struct test_writer {
    struct store *s;
    const struct draft *d;
    int64_t run;
    struct sql_stmt *series;
    struct sql_stmt *add_series;
    struct sql_stmt *add_test;
    struct sql_stmt *add_telemetry;
    struct sql_stmt *add_quantity;
    struct sql_stmt *add_extra;
    size_t variant; /* of the rows that `series` returns; n_variants: none yet */
    int there;      /* 1: a series at next_context; 0: no more rows; -1: error */
    int64_t next_context, next_id;
    int context; /* of the last test */
    int64_t id;  /* of its series */
};

static const char add_test[] =
    "INSERT INTO test (run_id, series_id, repetition, test_index, warmup, status, vram_before, vram_after,"
    " vram_max_gap_ms, cpu_user_s, cpu_system_s, timeout_s, started_at, prompt_tokens, exit_code, signal,"
    " samples, attn_impl, reason, host, gpu, gpu_mode, beside, contained"
#define METRIC_TEST(id, name, column, ...) ", " #column
#include "results/store/metric.def"
    ACTIVITY_COLUMNS
    ") VALUES (:run, :series, :repetition, :test_index, :warmup, :status, :vram_before, :vram_after,"
    " :vram_max_gap_ms, :cpu_user_s, :cpu_system_s, :timeout_s, :started_at, :prompt_tokens, :exit_code, "
    ":signal,"
    " :samples, :attn_impl, :reason, :host, :gpu, :gpu_mode, :beside, :contained"
#define METRIC_TEST(id, name, column, ...) ", :" #column
#include "results/store/metric.def"
    ACTIVITY_PARAMS ")";

static int prepare_statements(struct test_writer *w, struct err *err)
{
    struct store *s = w->s;
    w->series =
        sql_keep(s,
                 "SELECT context_len, id FROM series WHERE node = :node AND ticket = :ticket AND mode = :mode"
                 " AND variant = :variant ORDER BY context_len",
                 err);
    w->add_series = sql_keep(s,
                             "INSERT INTO series (node, ticket, mode, variant, context_len) VALUES (:node, "
                             ":ticket, :mode, :variant, :context)",
                             err);
    w->add_test = sql_keep(s, add_test, err);
    w->add_telemetry = sql_keep(
        s, "INSERT INTO telemetry (test_id, samples, packed) VALUES (:test, :samples, :packed)", err);
    w->add_quantity = sql_keep(s, "INSERT OR IGNORE INTO quantity (name) VALUES (:name)", err);
    w->add_extra = sql_keep(s,
                            "INSERT OR REPLACE INTO extra (test_id, quantity_id, value)"
                            " SELECT :test, id, :value FROM quantity WHERE name = :name",
                            err);
    return w->series && w->add_series && w->add_test && w->add_telemetry && w->add_quantity && w->add_extra
               ? 0
               : -1;
}

static void bind_series(struct test_writer *w, struct sql_stmt *stmt, size_t variant)
{
    sql_bind_text(stmt, ":node", w->d->info.node);
    sql_bind_text(stmt, ":ticket", w->d->info.ticket);
    sql_bind_text(stmt, ":mode", w->d->info.mode);
    sql_bind_text(stmt, ":variant", w->d->variants[variant].name);
}

static void next_series(struct test_writer *w, struct err *err)
{
    w->there = sql_step(w->series, err);
    if (w->there <= 0)
        return;
    w->next_context = sql_col_int(w->series, "context_len", 0);
    w->next_id = sql_col_int(w->series, "id", 0);
}

static int add_series(struct test_writer *w, const struct run_test *t, int64_t *id, struct err *err)
{
    bind_series(w, w->add_series, t->variant);
    sql_bind_int(w->add_series, ":context", t->context);
    if (sql_run(w->add_series, err) != 0)
        return -1;
    *id = sqlite3_last_insert_rowid(w->s->db);
    return 0;
}

/* The series of a test: that of the test before it, a stored one, or a new one. */
static int series_of(struct test_writer *w, const struct run_test *t, int64_t *id, struct err *err)
{
    bool same = w->variant == t->variant && w->context == t->context;
    if (w->variant != t->variant) {
        sql_reset(w->series);
        bind_series(w, w->series, t->variant);
        w->variant = t->variant;
        next_series(w, err);
    }
    while (w->there > 0 && w->next_context < t->context)
        next_series(w, err);
    if (w->there < 0)
        return -1;
    if (!same && w->there > 0 && w->next_context == t->context)
        w->id = w->next_id;
    else if (!same && add_series(w, t, &w->id, err) != 0)
        return -1;
    w->context = t->context;
    *id = w->id;
    return 0;
}

static int store_row(struct test_writer *w, const struct run_test *t, int64_t *id, struct err *err)
{
    struct sql_stmt *stmt = w->add_test;
    int64_t series = 0;
    if (series_of(w, t, &series, err) != 0)
        return -1;
    const char *usual = w->d->variants[t->variant].attn_impl;
    sql_bind_int(stmt, ":run", w->run);
    sql_bind_int(stmt, ":series", series);
    sql_bind_int(stmt, ":repetition", t->repetition);
    sql_bind_int_or_null(stmt, ":test_index", t->index, RUN_UNKNOWN);
    sql_bind_int(stmt, ":warmup", t->warmup);
    sql_bind_text(stmt, ":status", status_name(t->status));
    sql_bind_bytes(stmt, ":vram_before", t->used.vram_before);
    sql_bind_bytes(stmt, ":vram_after", t->used.vram_after);
    sql_bind_num(stmt, ":vram_max_gap_ms", t->used.vram_max_gap_ms);
    sql_bind_num(stmt, ":cpu_user_s", t->used.cpu_user_s);
    sql_bind_num(stmt, ":cpu_system_s", t->used.cpu_system_s);
    sql_bind_num(stmt, ":timeout_s", t->timeout_s);
    sql_bind_int_or_null(stmt, ":started_at", when_parse(t->started_at), WHEN_UNKNOWN);
    sql_bind_int_or_null(stmt, ":prompt_tokens", t->prompt_tokens, RUN_UNKNOWN);
    sql_bind_int_or_null(stmt, ":exit_code", t->exit_code, RUN_UNKNOWN);
    sql_bind_int_or_null(stmt, ":signal", t->signal, RUN_UNKNOWN);
    sql_bind_int_or_null(stmt, ":samples", t->samples, RUN_UNKNOWN);
    sql_bind_text_or_null(stmt, ":attn_impl", strcmp(t->attn_impl, usual) == 0 ? "" : t->attn_impl);
    sql_bind_text_or_null(stmt, ":reason", t->reason);
    sql_bind_text_or_null(stmt, ":host", t->host);
    sql_bind_text_or_null(stmt, ":gpu", t->gpu);
    sql_bind_text_or_null(stmt, ":gpu_mode", t->gpu_mode);
    sql_bind_int_or_null(stmt, ":beside", t->beside, RUN_UNKNOWN);
    sql_bind_text_or_null(stmt, ":contained", t->contained);
    metric_bind(stmt, METRIC_OF_TEST, t->value);
    activity_bind(stmt, t);
    if (sql_run(stmt, err) != 0)
        return -1;
    *id = sqlite3_last_insert_rowid(w->s->db);
    return 0;
}

static int store_test(struct test_writer *w, const struct draft_test *test, struct err *err)
{
    int64_t id;
    if (store_row(w, &test->t, &id, err) != 0)
        return -1;
    if (test->packed) {
        sql_bind_int(w->add_telemetry, ":test", id);
        sql_bind_int(w->add_telemetry, ":samples", test->packed_samples);
        sql_bind_blob(w->add_telemetry, ":packed", test->packed, test->packed_len);
        if (sql_run(w->add_telemetry, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < test->n_extras; i++) {
        sql_bind_text(w->add_quantity, ":name", test->extras[i].name);
        sql_bind_int(w->add_extra, ":test", id);
        sql_bind_text(w->add_extra, ":name", test->extras[i].name);
        sql_bind_num(w->add_extra, ":value", test->extras[i].value);
        if (sql_run(w->add_quantity, err) != 0 || sql_run(w->add_extra, err) != 0)
            return -1;
    }
    return 0;
}

int store_tests(struct store *s, const struct draft *d, int64_t run, struct err *err)
{
    struct test_writer w = {.s = s, .d = d, .run = run, .variant = d->n_variants};
    int rc = prepare_statements(&w, err);
    for (size_t i = 0; rc == 0 && i < d->n_tests; i++)
        rc = store_test(&w, &d->tests[i], err);
    sql_reset(w.series);
    return rc;
}
