#include "results/ingest/draft/draft.h"
#include "results/store/measured_sql.h"
#include "results/store/sql.h"
#include "results/store/when.h"

#include "common/base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD_MAX_MS = 24 * 3600 * 1000 };

/* Rows are shared by content: looks the row up, else inserts it. */
static int shared_row(struct store *s, const char *find, const char *add, const char *sha256,
                      const char *body, int64_t *id, bool *added, struct err *err)
{
    SQL_KEPT look = sql_keep(s, find, err);
    sql_bind_text(look, ":sha256", sha256);
    int rc = sql_step(look, err);
    *added = rc == 0;
    if (rc != 0) {
        *id = rc > 0 ? sql_col_int(look, "id", 0) : 0;
        return rc > 0 ? 0 : -1;
    }
    SQL_KEPT insert = sql_keep(s, add, err);
    sql_bind_text(insert, ":sha256", sha256);
    if (body)
        sql_bind_text(insert, ":body", body);
    if (sql_run(insert, err) != 0)
        return -1;
    *id = sqlite3_last_insert_rowid(s->db);
    return 0;
}

static void hash_facts(const struct draft *d, char *out)
{
    struct sha256 h;
    sha256_begin(&h);
    for (size_t i = 0; i < d->n_facts; i++) {
        sha256_add(&h, d->facts[i].key, strlen(d->facts[i].key) + 1);
        sha256_add(&h, d->facts[i].value, strlen(d->facts[i].value) + 1);
    }
    sha256_end(&h, out);
}

static int store_facts(struct store *s, const struct draft *d, int64_t *environment, struct err *err)
{
    char sha256[SHA256_HEX_LEN + 1];
    bool added;
    hash_facts(d, sha256);
    if (shared_row(s, "SELECT id FROM environment WHERE sha256 = :sha256",
                   "INSERT INTO environment (sha256) VALUES (:sha256)", sha256, NULL, environment, &added,
                   err) != 0)
        return -1;
    if (!added)
        return 0;
    SQL_KEPT stmt = sql_keep(
        s, "INSERT OR IGNORE INTO fact (environment_id, key, value) VALUES (:environment, :key, :value)",
        err);
    for (size_t i = 0; i < d->n_facts; i++) {
        sql_bind_int(stmt, ":environment", *environment);
        sql_bind_text(stmt, ":key", d->facts[i].key);
        sql_bind_text(stmt, ":value", d->facts[i].value);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

static int store_plan(struct store *s, const struct draft *d, int64_t *document, struct err *err)
{
    char sha256[SHA256_HEX_LEN + 1];
    bool added;
    *document = 0;
    if (!d->plan)
        return 0;
    sha256_of(d->plan, strlen(d->plan), sha256);
    return shared_row(s, "SELECT id FROM document WHERE sha256 = :sha256",
                      "INSERT INTO document (sha256, body) VALUES (:sha256, :body)", sha256, d->plan,
                      document, &added, err);
}

/* A node whose clock is ahead must not be the newest run for years. */
static int64_t order_of(struct draft *d, int64_t now)
{
    int64_t started = when_parse(d->info.started_at);
    int64_t at = started != WHEN_UNKNOWN ? started : when_midnight(d->info.date);
    if (at <= now + AHEAD_MAX_MS)
        return at;
    draft_warn(d,
               "it is dated %s, in the future: the time at which it was stored counts instead; check the "
               "node's clock",
               started != WHEN_UNKNOWN ? d->info.started_at : d->info.date);
    return now;
}

static int store_run(struct store *s, struct draft *d, int64_t reuse, int64_t environment, int64_t document,
                     int64_t *key, struct err *err)
{
    const struct run_info *r = &d->info;
    const int64_t now = llround(clock_real_s() * 1e3);
    char reading_sha256[SHA256_HEX_LEN + 1] = "";
    SQL_KEPT stmt = sql_keep(
        s,
        "INSERT INTO run (id, run_id, ticket, tag, date, node, mode, origin, status, content_sha256,"
        " plan_sha256, source_sha256, started_at, ended_at, ordered_at, wall_s, environment_id,"
        " plan_document_id, bundle, ingested_at, purpose, reading, reading_sha256, sweep, without_result)"
        " VALUES (:id, :run_id, :ticket, :tag, :date, :node, :mode, :origin, :status, :content_sha256,"
        " :plan_sha256, :source_sha256, :started_at, :ended_at, :ordered_at, :wall_s, :environment,"
        " :plan, :bundle, :now, :purpose, :reading, :reading_sha256, :sweep, :without_result)",
        err);
    sql_bind_int_or_null(stmt, ":id", reuse, 0);
    sql_bind_text(stmt, ":run_id", r->run_id);
    sql_bind_text(stmt, ":ticket", r->ticket);
    sql_bind_text(stmt, ":tag", r->tag);
    sql_bind_text(stmt, ":date", r->date);
    sql_bind_text(stmt, ":node", r->node);
    sql_bind_text(stmt, ":mode", r->mode);
    sql_bind_text(stmt, ":origin", r->origin);
    sql_bind_text(stmt, ":status", run_status_name(r->status));
    sql_bind_text(stmt, ":purpose", run_purpose_name(r->purpose));
    sql_bind_text(stmt, ":content_sha256", r->content_sha256);
    if (*r->reading)
        sha256_of(r->reading, strlen(r->reading), reading_sha256);
    sql_bind_text_or_null(stmt, ":reading", r->reading);
    sql_bind_text_or_null(stmt, ":reading_sha256", reading_sha256);
    sql_bind_text_or_null(stmt, ":plan_sha256", r->plan_sha256);
    sql_bind_text_or_null(stmt, ":source_sha256", r->source_sha256);
    sql_bind_int_or_null(stmt, ":started_at", when_parse(r->started_at), WHEN_UNKNOWN);
    sql_bind_int_or_null(stmt, ":ended_at", when_parse(r->ended_at), WHEN_UNKNOWN);
    sql_bind_int(stmt, ":ordered_at", order_of(d, now));
    sql_bind_num(stmt, ":wall_s", r->wall_s);
    sql_bind_int(stmt, ":environment", environment);
    sql_bind_int_or_null(stmt, ":plan", document, 0);
    sql_bind_text_or_null(stmt, ":bundle", r->bundle);
    sql_bind_text_or_null(stmt, ":sweep", r->sweep);
    sql_bind_int(stmt, ":without_result", (int64_t)d->n_unmeasured);
    sql_bind_int(stmt, ":now", now);
    if (sql_run(stmt, err) != 0)
        return -1;
    *key = sqlite3_last_insert_rowid(s->db);
    return 0;
}

static const char add_variant[] =
    "INSERT INTO variant (run_id, position, name, attn_impl, status, reason, build_wall_s, build_cached, "
    "kernel,"
    " shape, code_sha256, code_kind, axes, image, image_digest"
#define METRIC_BUILD(id, name, column, ...) ", " #column
#include "results/store/metric.def"
    ") VALUES (:run, :position, :name, :attn_impl, :status, :reason, :build_wall_s, :build_cached, :kernel,"
    " :shape, :code_sha256, :code_kind, :axes, :image, :image_digest"
#define METRIC_BUILD(id, name, column, ...) ", :" #column
#include "results/store/metric.def"
    ")";

static int store_variants(struct store *s, const struct draft *d, int64_t key, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s, add_variant, err);
    for (size_t i = 0; i < d->n_variants; i++) {
        const struct run_variant *v = &d->variants[i];
        sql_bind_int(stmt, ":run", key);
        sql_bind_int(stmt, ":position", (int64_t)i);
        sql_bind_text(stmt, ":name", v->name);
        sql_bind_text(stmt, ":attn_impl", v->attn_impl);
        sql_bind_text(stmt, ":status", status_name(v->status));
        sql_bind_text_or_null(stmt, ":reason", v->reason);
        sql_bind_num(stmt, ":build_wall_s", v->build_wall_s);
        sql_bind_int(stmt, ":build_cached", v->build_cached);
        sql_bind_text_or_null(stmt, ":kernel", v->kernel);
        sql_bind_text_or_null(stmt, ":shape", v->shape);
        sql_bind_text_or_null(stmt, ":code_sha256", v->code_sha256);
        sql_bind_text(stmt, ":code_kind", !*v->code_sha256 ? NULL : v->code_of_device ? "device" : "files");
        sql_bind_text_or_null(stmt, ":axes", v->axes);
        sql_bind_text_or_null(stmt, ":image", v->image);
        sql_bind_text_or_null(stmt, ":image_digest", v->image_digest);
        metric_bind(stmt, METRIC_OF_BUILD, v->value);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

static int store_metrics(struct store *s, const struct draft *d, int64_t key, struct err *err)
{
    SQL_KEPT stmt =
        sql_keep(s,
                 "INSERT INTO run_metric (run_id, position, name, unit, better, least, is_primary)"
                 " VALUES (:run, :position, :name, :unit, :better, :least, :primary)",
                 err);
    for (size_t i = 0; i < d->n_metrics; i++) {
        const struct metric_definition *m = &d->metrics[i];
        sql_bind_int(stmt, ":run", key);
        sql_bind_int(stmt, ":position", (int64_t)i);
        sql_bind_text(stmt, ":name", m->name);
        sql_bind_text(stmt, ":unit", m->unit);
        sql_bind_text(stmt, ":better", m->better == METRIC_MORE ? "more" : "less");
        sql_bind_num(stmt, ":least", m->least);
        sql_bind_int(stmt, ":primary", m->primary);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

static int store_unmeasured(struct store *s, const struct draft *d, int64_t key, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "INSERT OR IGNORE INTO unmeasured (run_id, variant, context_len)"
                             " SELECT :run, :variant, :context WHERE NOT EXISTS (SELECT 1 FROM test t"
                             " JOIN series c ON c.id = t.series_id WHERE t.run_id = :run"
                             " AND c.variant = :variant AND c.context_len = :context)",
                             err);
    for (size_t i = 0; i < d->n_unmeasured; i++) {
        sql_bind_int(stmt, ":run", key);
        sql_bind_text(stmt, ":variant", d->unmeasured[i].variant);
        sql_bind_int(stmt, ":context", d->unmeasured[i].context);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

/* Of a cell that the run has a test of, it was not left out, whatever the run says. */
static int store_fingerprints(struct store *s, const struct draft *d, int64_t key, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "INSERT OR IGNORE INTO fingerprint (run_id, variant, context_len, sha256,"
                             " left_out, measured_on) SELECT :run, :variant, :context, nullif(:sha256, ''),"
                             " nullif(:left_out, ''), nullif(:measured, '')"
                             " WHERE (:left_out = '') = EXISTS (SELECT 1 FROM test t"
                             " JOIN series c ON c.id = t.series_id WHERE t.run_id = :run"
                             " AND c.variant = :variant AND c.context_len = :context)",
                             err);
    for (size_t i = 0; i < d->n_fingerprints; i++) {
        const struct draft_fingerprint *f = &d->fingerprints[i];
        sql_bind_int(stmt, ":run", key);
        sql_bind_text(stmt, ":variant", f->variant);
        sql_bind_int(stmt, ":context", f->context);
        sql_bind_text(stmt, ":sha256", f->sha256);
        sql_bind_text(stmt, ":left_out", !f->carried ? "" : f->budget ? "budget" : "unchanged");
        sql_bind_text(stmt, ":measured", f->measured);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

/* Merges the tests with the rows of `series` for one variant; both are sorted by context. */
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
    " samples, attn_impl, reason, host, gpu, gpu_mode, beside, compiled, contained"
#define METRIC_TEST(id, name, column, ...) ", " #column
#include "results/store/metric.def"
    ACTIVITY_COLUMNS
    ") VALUES (:run, :series, :repetition, :test_index, :warmup, :status, :vram_before, :vram_after,"
    " :vram_max_gap_ms, :cpu_user_s, :cpu_system_s, :timeout_s, :started_at, :prompt_tokens, :exit_code, "
    ":signal,"
    " :samples, :attn_impl, :reason, :host, :gpu, :gpu_mode, :beside, :compiled, :contained"
#define METRIC_TEST(id, name, column, ...) ", :" #column
#include "results/store/metric.def"
    ACTIVITY_PARAMS ")";

static void prepare_statements(struct test_writer *w, struct err *err)
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
    sql_bind_int_or_null(stmt, ":compiled", t->compiled, RUN_UNKNOWN);
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

/* Stores tests with their series, telemetry and additional numbers. */
static int store_tests(struct store *s, const struct draft *d, int64_t run, struct err *err)
{
    struct test_writer w = {.s = s, .d = d, .run = run, .variant = d->n_variants};
    int rc = 0;
    prepare_statements(&w, err);
    for (size_t i = 0; rc == 0 && i < d->n_tests; i++)
        rc = store_test(&w, &d->tests[i], err);
    sql_reset(w.series);
    return rc;
}

int draft_store(struct store *s, struct draft *d, int64_t reuse, int64_t *key, struct err *err)
{
    int64_t environment, document;
    if (store_facts(s, d, &environment, err) != 0 || store_plan(s, d, &document, err) != 0 ||
        store_run(s, d, reuse, environment, document, key, err) != 0 ||
        store_variants(s, d, *key, err) != 0 || store_metrics(s, d, *key, err) != 0 ||
        details_store(s, *key, &d->details, err) != 0 ||
        revision_store(s, *key, &d->info.revision, &d->commits, err) != 0 ||
        counters_store(s, *key, &d->counters, err) != 0)
        return -1;
    return store_tests(s, d, *key, err) != 0 || store_unmeasured(s, d, *key, err) != 0
               ? -1
               : store_fingerprints(s, d, *key, err);
}
