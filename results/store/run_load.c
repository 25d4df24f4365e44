#include "results/store/run_load.h"

#include "common/base/alloc.h"
#include "common/base/values.h"
#include "common/base/word.h"
#include "results/store/identity.h"
#include "results/store/measured_sql.h"
#include "results/store/when.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int run_status_read(struct store *s, struct sql_stmt *stmt, const char *run_id, enum run_status *out,
                    struct err *err)
{
    char status[32];
    sql_col_text(stmt, "status", status, sizeof status);
    return run_status_from_name(status, out)
               ? 0
               : err_set(err, ERR_STORAGE, "%s: run %s has the unknown status %s", s->path, run_id, status);
}

static int run_purpose_read(struct store *s, struct sql_stmt *stmt, struct run_info *out, struct err *err)
{
    char purpose[32];
    sql_col_text(stmt, "purpose", purpose, sizeof purpose);
    return run_purpose_from_name(purpose, &out->purpose)
               ? 0
               : err_set(err, ERR_STORAGE, "%s: run %s has the unknown purpose %s", s->path, out->run_id,
                         purpose);
}

int run_info_read(struct store *s, struct sql_stmt *stmt, struct run_info *out, struct err *err)
{
    out->key = sql_col_int(stmt, "id", 0);
    sql_col_text(stmt, "run_id", out->run_id, sizeof out->run_id);
    sql_col_text(stmt, "ticket", out->ticket, sizeof out->ticket);
    sql_col_text(stmt, "tag", out->tag, sizeof out->tag);
    sql_col_text(stmt, "date", out->date, sizeof out->date);
    sql_col_text(stmt, "node", out->node, sizeof out->node);
    sql_col_text(stmt, "mode", out->mode, sizeof out->mode);
    sql_col_text(stmt, "origin", out->origin, sizeof out->origin);
    sql_col_text(stmt, "plan_sha256", out->plan_sha256, sizeof out->plan_sha256);
    sql_col_text(stmt, "source_sha256", out->source_sha256, sizeof out->source_sha256);
    sql_col_text(stmt, "content_sha256", out->content_sha256, sizeof out->content_sha256);
    when_format(sql_col_int(stmt, "started_at", WHEN_UNKNOWN), out->started_at);
    when_format(sql_col_int(stmt, "ended_at", WHEN_UNKNOWN), out->ended_at);
    sql_col_text(stmt, "bundle", out->bundle, sizeof out->bundle);
    sql_col_text(stmt, "sweep", out->sweep, sizeof out->sweep);
    out->wall_s = sql_col_num(stmt, "wall_s");
    int tests = (int)sql_col_int(stmt, "tests", 0), not_ok = (int)sql_col_int(stmt, "not_ok", 0);
    out->counts.total = tests + (int)sql_col_int(stmt, "without_result", 0);
    out->counts.ok = tests - not_ok;
    out->counts.skipped = (int)sql_col_int(stmt, "skipped", 0);
    out->counts.failed = not_ok - out->counts.skipped;
    sql_col_text(stmt, "rejected_why", out->rejected, sizeof out->rejected);
    revision_read(stmt, &out->revision);
    return run_purpose_read(s, stmt, out, err) != 0
               ? -1
               : run_status_read(s, stmt, out->run_id, &out->status, err);
}

static int say_gone(struct store *s, int64_t key, struct err *err)
{
    char id[RUN_ID_MAX];
    SQL_STMT stmt = sql_prepare_int(s, "SELECT run_id FROM removed_run WHERE id = :run", ":run", key, err);
    int rc = sql_step(stmt, err);
    if (rc <= 0)
        return rc < 0 ? -1 : err_set(err, ERR_INPUT, "%s: the run no longer exists", s->path);
    sql_col_text(stmt, "run_id", id, sizeof id);
    return err_set(err, ERR_INPUT,
                   "run %s was removed from the store: `kernsweep ingest` of its bundle stores it again", id);
}

static int load_info(struct store *s, int64_t key, struct run_info *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s, RUN_SELECT "WHERE r.id = :run", ":run", key, err);
    int rc = sql_step(stmt, err);
    if (rc == 0)
        return say_gone(s, key, err);
    return rc < 0 ? -1 : run_info_read(s, stmt, out, err);
}

static int bad_status(struct store *s, const struct run_data *r, const char *status, struct err *err)
{
    return err_set(err, ERR_STORAGE, "%s: run %s has a variant or test with the unknown status %s", s->path,
                   r->info.run_id, status);
}

static int read_variant(struct store *s, struct sql_stmt *stmt, struct run_data *r, size_t *cap,
                        struct err *err)
{
    char status[32];
    alloc_grow((void **)&r->variants, sizeof *r->variants, r->n_variants + 1, cap);
    struct run_variant *v = &r->variants[r->n_variants++];
    sql_col_text(stmt, "name", v->name, sizeof v->name);
    sql_col_text(stmt, "attn_impl", v->attn_impl, sizeof v->attn_impl);
    sql_col_text(stmt, "status", status, sizeof status);
    sql_col_text(stmt, "reason", v->reason, sizeof v->reason);
    v->build_wall_s = sql_col_num(stmt, "build_wall_s");
    v->build_cached = sql_col_int(stmt, "build_cached", 0) != 0;
    sql_col_text(stmt, "code_sha256", v->code_sha256, sizeof v->code_sha256);
    v->code_of_device = sql_col_int(stmt, "code_of_device", 0) != 0;
    for (int m = 0; m < METRIC_COUNT; m++)
        v->value[m] = NAN;
    metric_read(stmt, METRIC_OF_BUILD, v->value);
    sql_col_text(stmt, "kernel", v->kernel, sizeof v->kernel);
    sql_col_text(stmt, "shape", v->shape, sizeof v->shape);
    sql_col_text(stmt, "axes", v->axes, sizeof v->axes);
    sql_col_text(stmt, "image", v->image, sizeof v->image);
    sql_col_text(stmt, "image_digest", v->image_digest, sizeof v->image_digest);
    return status_from_name(status, &v->status) ? 0 : bad_status(s, r, status, err);
}

static int load_variants(struct store *s, struct run_data *r, struct err *err)
{
    static const char text[] = "SELECT name, attn_impl, status, reason, build_wall_s, build_cached, kernel, "
                               "shape, axes, image, image_digest,"
                               " code_sha256, coalesce(code_kind = 'device', 0) AS code_of_device"
#define METRIC_BUILD(id, name, column, ...) ", " #column
#include "results/store/metric.def"
                               " FROM variant WHERE run_id = :run ORDER BY position";
    SQL_STMT stmt = sql_prepare_int(s, text, ":run", r->info.key, err);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        if (read_variant(s, stmt, r, &cap, err) != 0)
            return -1;
    run_data_index(r);
    return rc;
}

static int read_test(struct store *s, struct sql_stmt *stmt, struct run_data *r, size_t *cap, struct err *err)
{
    char status[32], name[RUN_NAME_MAX];
    alloc_grow((void **)&r->tests, sizeof *r->tests, r->n_tests + 1, cap);
    struct run_test *t = &r->tests[r->n_tests++];
    t->key = sql_col_int(stmt, "id", 0);
    sql_col_text(stmt, "variant", name, sizeof name);
    const struct run_variant *variant = run_data_variant(r, name);
    t->variant = variant ? (size_t)(variant - r->variants) : 0;
    t->context = (int)sql_col_int(stmt, "context_len", 0);
    t->repetition = (int)sql_col_int(stmt, "repetition", 0);
    t->warmup = sql_col_int(stmt, "warmup", 0) != 0;
    sql_col_text(stmt, "status", status, sizeof status);
    if (!variant || !status_from_name(status, &t->status))
        return bad_status(s, r, status, err);
    t->used.vram_before = sql_col_num(stmt, "vram_before");
    t->used.vram_after = sql_col_num(stmt, "vram_after");
    t->used.vram_max_gap_ms = sql_col_num(stmt, "vram_max_gap_ms");
    t->used.cpu_user_s = sql_col_num(stmt, "cpu_user_s");
    t->used.cpu_system_s = sql_col_num(stmt, "cpu_system_s");
    t->timeout_s = sql_col_num(stmt, "timeout_s");
    when_format(sql_col_int(stmt, "started_at", WHEN_UNKNOWN), t->started_at);
    t->prompt_tokens = sql_col_int(stmt, "prompt_tokens", RUN_UNKNOWN);
    t->exit_code = (int)sql_col_int(stmt, "exit_code", RUN_UNKNOWN);
    t->signal = (int)sql_col_int(stmt, "signal", RUN_UNKNOWN);
    t->samples = (int)sql_col_int(stmt, "samples", RUN_UNKNOWN);
    const char *attn_impl = sql_col_str(stmt, "attn_impl", NULL);
    snprintf(t->attn_impl, sizeof t->attn_impl, "%s", attn_impl ? attn_impl : variant->attn_impl);
    t->reason = word(sql_col_str(stmt, "reason", NULL));
    t->index = (int)sql_col_int(stmt, "test_index", RUN_UNKNOWN);
    t->host = word(sql_col_str(stmt, "host", NULL));
    t->gpu = word(sql_col_str(stmt, "gpu", NULL));
    sql_col_text(stmt, "gpu_mode", t->gpu_mode, sizeof t->gpu_mode);
    sql_col_text(stmt, "contained", t->contained, sizeof t->contained);
    t->beside = (int)sql_col_int(stmt, "beside", RUN_UNKNOWN);
    t->compiled = (int)sql_col_int(stmt, "compiled", RUN_UNKNOWN);
    memcpy(t->value, r->variants[t->variant].value, sizeof t->value);
    metric_read(stmt, METRIC_OF_TEST, t->value);
    activity_read(stmt, &t->activity);
    t->work = RUN_WORK_UNKNOWN;
    metric_derive(t->value, t->context, run_test_has_tokens(t));
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct run_test *x = a, *y = b;
    int order = (x->variant > y->variant) - (x->variant < y->variant);
    if (order == 0)
        order = (x->context > y->context) - (x->context < y->context);
    if (order == 0)
        order = (x->repetition > y->repetition) - (x->repetition < y->repetition);
    return order != 0 ? order : (x->key > y->key) - (x->key < y->key);
}

static int load_tests(struct store *s, struct run_data *r, struct err *err)
{
    static const char text[] = /* variants are found by run_data_index(): SQLite may look at each of them */
        "SELECT t.id, c.variant, c.context_len, t.repetition, t.warmup, t.status, t.vram_before,"
        " t.vram_after, t.vram_max_gap_ms, t.cpu_user_s, t.cpu_system_s, t.timeout_s, t.started_at, "
        "t.prompt_tokens,"
        " t.exit_code, t.signal, t.samples, t.attn_impl, t.reason,"
        " t.test_index, t.host, t.gpu, t.gpu_mode, t.contained, t.beside, t.compiled"
#define METRIC_TEST(id, name, column, ...) ", t." #column
#include "results/store/metric.def"
        ACTIVITY_COLUMNS " FROM test t CROSS JOIN series c ON c.id = t.series_id"
        " WHERE t.run_id = :run";
    SQL_STMT stmt = sql_prepare_int(s, text, ":run", r->info.key, err);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        if (read_test(s, stmt, r, &cap, err) != 0)
            return -1;
    items_sort(r->tests, r->n_tests, sizeof *r->tests, by_place);
    return rc;
}

static int load_facts(struct store *s, struct run_data *r, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare_int(s,
                        "SELECT f.key, f.value FROM run r JOIN fact f ON f.environment_id = r.environment_id"
                        " WHERE r.id = :run ORDER BY f.key",
                        ":run", r->info.key, err);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(r->facts, r->n_facts + 1, cap);
        struct run_fact *f = &r->facts[r->n_facts++];
        sql_col_text(stmt, "key", f->key, sizeof f->key);
        sql_col_text(stmt, "value", f->value, sizeof f->value);
    }
    return rc;
}

static int read_definition(struct store *s, struct sql_stmt *stmt, struct run_data *r, struct err *err)
{
    struct metric_definition d = {.least = sql_col_num(stmt, "least"),
                                  .primary = sql_col_int(stmt, "is_primary", 0) != 0};
    char better[8];
    enum metric m;
    sql_col_text(stmt, "name", d.name, sizeof d.name);
    sql_col_text(stmt, "unit", d.unit, sizeof d.unit);
    sql_col_text(stmt, "better", better, sizeof better);
    d.better = strcmp(better, "more") == 0 ? METRIC_MORE : METRIC_LESS;
    if (metric_define(&d, r->info.run_id, &m, err) != 0)
        return err_wrap(err, "%s", s->path);
    if (d.primary)
        r->primary = m;
    return 0;
}

static int load_definitions(struct store *s, struct run_data *r, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s,
                                    "SELECT name, unit, better, least, is_primary FROM run_metric"
                                    " WHERE run_id = :run ORDER BY position",
                                    ":run", r->info.key, err);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        if (read_definition(s, stmt, r, err) != 0)
            return -1;
    return rc;
}

static void take_extra(struct run_test *t, const char *name, double value)
{
    const struct {
        const char *name;
        double *value;
    } shape[] = {{"batch", &t->work.batch},
                 {"heads", &t->work.heads},
                 {"kv_heads", &t->work.kv_heads},
                 {"seq", &t->work.seq},
                 {"head_dim", &t->work.head_dim}};
    enum metric m;
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        if (strcmp(name, shape[i].name) == 0)
            *shape[i].value = value;
    if (metric_mention(name, &m))
        t->value[m] = value;
}

/* Loads the numbers that are not built in. Rows come in the order of the tests. */
static int load_extras(struct store *s, struct run_data *r, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare_int(s,
                        "SELECT t.id, q.name, e.value FROM test t JOIN extra e ON e.test_id = t.id"
                        " JOIN quantity q ON q.id = e.quantity_id JOIN series c ON c.id = t.series_id"
                        " JOIN variant v ON v.run_id = t.run_id AND v.name = c.variant"
                        " WHERE t.run_id = :run ORDER BY v.position, c.context_len, t.repetition, q.id",
                        ":run", r->info.key, err);
    size_t i = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        char name[RUN_NAME_MAX];
        int64_t key = sql_col_int(stmt, "id", 0);
        sql_col_text(stmt, "name", name, sizeof name);
        while (i < r->n_tests && r->tests[i].key != key)
            i++;
        if (i < r->n_tests)
            take_extra(&r->tests[i], name, sql_col_num(stmt, "value"));
    }
    return rc;
}

static int load_unmeasured(struct store *s, struct run_data *r, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(
        s, "SELECT variant, context_len FROM unmeasured WHERE run_id = :run ORDER BY variant, context_len",
        ":run", r->info.key, err);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(r->unmeasured, r->n_unmeasured + 1, cap);
        struct run_unmeasured *u = &r->unmeasured[r->n_unmeasured++];
        sql_col_text(stmt, "variant", u->variant, sizeof u->variant);
        u->context = (int)sql_col_int(stmt, "context_len", 0);
    }
    return rc;
}

static int load_carried(struct store *s, struct run_data *r, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(
        s,
        "SELECT variant, context_len, measured_on, left_out = 'budget' AS budget"
        " FROM fingerprint WHERE run_id = :run AND left_out IS NOT NULL ORDER BY variant, context_len",
        ":run", r->info.key, err);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(r->carried, r->n_carried + 1, cap);
        struct run_carried *c = &r->carried[r->n_carried++];
        sql_col_text(stmt, "variant", c->variant, sizeof c->variant);
        sql_col_text(stmt, "measured_on", c->measured, sizeof c->measured);
        c->context = (int)sql_col_int(stmt, "context_len", 0);
        c->budget = sql_col_int(stmt, "budget", 0) == 1;
    }
    return rc;
}

int run_facts_load(struct store *s, int64_t key, struct run_data *out, struct err *err)
{
    *out = (struct run_data){.primary = METRIC_COUNT};
    if (load_info(s, key, &out->info, err) == 0 && load_facts(s, out, err) == 0)
        return 0;
    run_data_release(out);
    return -1;
}

int run_data_load(struct store *s, int64_t key, struct run_data *out, struct err *err)
{
    *out = (struct run_data){.primary = METRIC_COUNT};
    if (load_info(s, key, &out->info, err) == 0 && load_variants(s, out, err) == 0 &&
        load_definitions(s, out, err) == 0 && load_tests(s, out, err) == 0 && load_extras(s, out, err) == 0 &&
        load_facts(s, out, err) == 0 && load_unmeasured(s, out, err) == 0 && load_carried(s, out, err) == 0) {
        run_data_make_cells(out);
        return 0;
    }
    run_data_release(out);
    return -1;
}
