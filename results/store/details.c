#include "results/store/details.h"

#include "common/base/alloc.h"
#include "results/store/sql.h"

#include <stdlib.h>
#include <string.h>

void details_release(struct run_details *d)
{
    for (size_t i = 0; i < d->n_files; i++)
        free(d->files[i].body);
    for (size_t i = 0; i < d->n_kernels; i++)
        free(d->kernels[i].name);
    free(d->kernels);
    free(d->files);
    free(d->gates);
    *d = (struct run_details){0};
}

const struct run_file *details_file(const struct run_details *d, const char *path)
{
    for (size_t i = 0; i < d->n_files; i++)
        if (strcmp(d->files[i].path, path) == 0)
            return &d->files[i];
    return NULL;
}

static int store_gates(struct store *s, int64_t run_key, const struct run_details *d, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "INSERT INTO gate (run_id, variant, position, name, status, reason, wall_s)"
                             " VALUES (:run, :variant, :position, :name, :status, :reason, :wall_s)",
                             err);
    for (size_t i = 0; i < d->n_gates; i++) {
        const struct run_gate *g = &d->gates[i];
        sql_bind_int(stmt, ":run", run_key);
        sql_bind_int(stmt, ":variant", (int64_t)g->variant);
        sql_bind_int(stmt, ":position", (int64_t)i);
        sql_bind_text(stmt, ":name", g->name);
        sql_bind_text(stmt, ":status", status_name(g->passed ? STATUS_OK : STATUS_GATE_FAILED));
        sql_bind_text_or_null(stmt, ":reason", g->reason);
        sql_bind_num(stmt, ":wall_s", g->wall_s);
        if (sql_run(stmt, err))
            return -1;
    }
    return 0;
}

/* Documents are shared by content: an unchanged build adds nothing. */
static int store_body(struct store *s, const char *body, char *sha256, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s, "INSERT OR IGNORE INTO document (sha256, body) VALUES (:sha256, :body)", err);
    sha256_of(body, strlen(body), sha256);
    sql_bind_text(stmt, ":sha256", sha256);
    sql_bind_text(stmt, ":body", body);
    return sql_run(stmt, err);
}

static int store_files(struct store *s, int64_t run_key, const struct run_details *d, struct err *err)
{
    SQL_KEPT stmt =
        sql_keep(s,
                 "INSERT INTO file (run_id, path, size, sha256, document_id) VALUES (:run, :path, :size,"
                 " :sha256, (SELECT id FROM document WHERE sha256 = :body_sha256))",
                 err);
    for (size_t i = 0; i < d->n_files; i++) {
        const struct run_file *f = &d->files[i];
        char body[SHA256_HEX_LEN + 1] = "";
        if (f->body && store_body(s, f->body, body, err) != 0)
            return -1;
        sql_bind_int(stmt, ":run", run_key);
        sql_bind_text(stmt, ":path", f->path);
        sql_bind_int(stmt, ":size", f->size);
        sql_bind_text(stmt, ":sha256", f->sha256);
        sql_bind_text_or_null(stmt, ":body_sha256", body);
        if (sql_run(stmt, err))
            return -1;
    }
    return 0;
}

/* NULL where nothing is known. The caller frees it. */
static char *facts_text(const struct kernel_facts *facts)
{
    json_auto_t *object = kernel_facts_known(facts) ? kernel_facts_encode(facts) : NULL;
    return object ? json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
}

static int store_kernel(struct sql_stmt *stmt, int64_t run_key, const struct run_kernel_code *k,
                        struct err *err)
{
    AUTO_FREE char *facts = facts_text(&k->facts);
    sql_bind_int(stmt, ":run", run_key);
    sql_bind_int(stmt, ":variant", (int64_t)k->variant);
    sql_bind_text(stmt, ":kernel", k->name);
    sql_bind_text(stmt, ":sha256", k->sha256);
    sql_bind_text_or_null(stmt, ":facts", facts);
    return sql_run(stmt, err);
}

/* A name that is listed twice is the input's mistake; the first one stands. */
static int store_kernels(struct store *s, int64_t run_key, const struct run_details *d, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "INSERT OR IGNORE INTO kernel_code (run_id, variant, kernel, sha256, facts)"
                             " VALUES (:run, :variant, :kernel, :sha256, :facts)",
                             err);
    for (size_t i = 0; i < d->n_kernels; i++)
        if (store_kernel(stmt, run_key, &d->kernels[i], err) != 0)
            return -1;
    return 0;
}

int details_store(struct store *s, int64_t run_key, const struct run_details *d, struct err *err)
{
    return store_gates(s, run_key, d, err) || store_files(s, run_key, d, err) ||
                   store_kernels(s, run_key, d, err)
               ? -1
               : 0;
}

static int load_gates(struct store *s, int64_t run_key, struct run_details *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s,
                                    "SELECT variant, name, status, reason, wall_s FROM gate"
                                    " WHERE run_id = :run ORDER BY variant, position",
                                    ":run", run_key, err);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        char status[32];
        ALLOC_GROW(out->gates, out->n_gates + 1, cap);
        struct run_gate *g = &out->gates[out->n_gates++];
        g->variant = (size_t)sql_col_int(stmt, "variant", 0);
        sql_col_text(stmt, "name", g->name, sizeof g->name);
        sql_col_text(stmt, "status", status, sizeof status);
        sql_col_text(stmt, "reason", g->reason, sizeof g->reason);
        g->passed = strcmp(status, status_name(STATUS_OK)) == 0;
        g->wall_s = sql_col_num(stmt, "wall_s");
    }
    return rc;
}

static int load_files(struct store *s, int64_t run_key, struct run_details *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s,
                                    "SELECT f.path, f.size, f.sha256, d.body FROM file f LEFT JOIN document d"
                                    " ON d.id = f.document_id WHERE f.run_id = :run ORDER BY f.path",
                                    ":run", run_key, err);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        const char *body = sql_col_str(stmt, "body", NULL);
        ALLOC_GROW(out->files, out->n_files + 1, cap);
        struct run_file *f = &out->files[out->n_files++];
        *f = (struct run_file){.size = sql_col_int(stmt, "size", 0), .body = body ? xstrdup(body) : NULL};
        sql_col_text(stmt, "path", f->path, sizeof f->path);
        sql_col_text(stmt, "sha256", f->sha256, sizeof f->sha256);
    }
    return rc;
}

static int read_facts(struct sql_stmt *stmt, struct kernel_facts *out, struct err *err)
{
    size_t len;
    const char *text = sql_col_str(stmt, "facts", &len);
    kernel_facts_init(out);
    if (!text)
        return 0;
    json_auto_t *object = json_parse(text, len, "kernel_code.facts", err);
    const struct json_at at = json_root(object, "kernel_code.facts");
    return object ? kernel_facts_decode(&at, out, err) : -1;
}

static int load_kernels(struct store *s, int64_t run_key, struct run_details *out, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare_int(s,
                        "SELECT variant, kernel, sha256, facts FROM kernel_code WHERE run_id = :run"
                        " ORDER BY variant, kernel",
                        ":run", run_key, err);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->kernels, out->n_kernels + 1, out->cap_kernels);
        struct run_kernel_code *k = &out->kernels[out->n_kernels++];
        *k = (struct run_kernel_code){.variant = (size_t)sql_col_int(stmt, "variant", 0),
                                      .name = xstrdup(sql_col_str(stmt, "kernel", NULL))};
        sql_col_text(stmt, "sha256", k->sha256, sizeof k->sha256);
        if (read_facts(stmt, &k->facts, err) != 0)
            return -1;
    }
    return rc;
}

int details_load_kernels(struct store *s, int64_t run_key, struct run_details *out, struct err *err)
{
    *out = (struct run_details){0};
    return load_kernels(s, run_key, out, err);
}

int details_load(struct store *s, int64_t run_key, struct run_details *out, struct err *err)
{
    *out = (struct run_details){0};
    return load_gates(s, run_key, out, err) || load_files(s, run_key, out, err) ||
                   load_kernels(s, run_key, out, err)
               ? -1
               : 0;
}
