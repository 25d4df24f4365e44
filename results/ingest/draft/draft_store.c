#include "results/ingest/draft/draft.h"
#include "results/ingest/draft/store_tests.h"
#include "results/store/metric_sql.h"
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
    if (!look)
        return -1;
    sql_bind_text(look, ":sha256", sha256);
    int rc = sql_step(look, err);
    *added = rc == 0;
    if (rc != 0) {
        *id = rc > 0 ? sql_col_int(look, "id", 0) : 0;
        return rc > 0 ? 0 : -1;
    }
    SQL_KEPT insert = sql_keep(s, add, err);
    if (!insert)
        return -1;
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
    for (size_t i = 0; stmt && i < d->n_facts; i++) {
        sql_bind_int(stmt, ":environment", *environment);
        sql_bind_text(stmt, ":key", d->facts[i].key);
        sql_bind_text(stmt, ":value", d->facts[i].value);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return stmt ? 0 : -1;
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
    if (!stmt)
        return -1;
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
    for (size_t i = 0; stmt && i < d->n_variants; i++) {
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
    return stmt ? 0 : -1;
}

static int store_metrics(struct store *s, const struct draft *d, int64_t key, struct err *err)
{
    SQL_KEPT stmt =
        sql_keep(s,
                 "INSERT INTO run_metric (run_id, position, name, unit, better, least, is_primary)"
                 " VALUES (:run, :position, :name, :unit, :better, :least, :primary)",
                 err);
    for (size_t i = 0; stmt && i < d->n_metrics; i++) {
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
    return stmt ? 0 : -1;
}

static int store_unmeasured(struct store *s, const struct draft *d, int64_t key, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "INSERT OR IGNORE INTO unmeasured (run_id, variant, context_len)"
                             " SELECT :run, :variant, :context WHERE NOT EXISTS (SELECT 1 FROM test t"
                             " JOIN series c ON c.id = t.series_id WHERE t.run_id = :run"
                             " AND c.variant = :variant AND c.context_len = :context)",
                             err);
    for (size_t i = 0; stmt && i < d->n_unmeasured; i++) {
        sql_bind_int(stmt, ":run", key);
        sql_bind_text(stmt, ":variant", d->unmeasured[i].variant);
        sql_bind_int(stmt, ":context", d->unmeasured[i].context);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return stmt ? 0 : -1;
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
    return store_tests(s, d, *key, err) != 0 ? -1 : store_unmeasured(s, d, *key, err);
}
