#include "results/store/details.h"
#include "results/store/sql.h"

#include <stdlib.h>
#include <string.h>

static int store_gates(struct store *s, int64_t run_key, const struct run_details *d, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "INSERT INTO gate (run_id, variant, position, name, status, reason, wall_s)"
                             " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                             err);
    for (size_t i = 0; stmt && i < d->n_gates; i++) {
        const struct run_gate *g = &d->gates[i];
        sql_bind_int(stmt, 1, run_key);
        sql_bind_int(stmt, 2, (int64_t)g->variant);
        sql_bind_int(stmt, 3, (int64_t)i);
        sql_bind_text(stmt, 4, g->name);
        sql_bind_text(stmt, 5, status_name(g->passed ? STATUS_OK : STATUS_GATE_FAILED));
        sql_bind_text_or_null(stmt, 6, g->reason);
        sql_bind_num(stmt, 7, g->wall_s);
        if (sql_run(s, stmt, err))
            return -1;
    }
    return stmt ? 0 : -1;
}

/* Documents are shared by content: an unchanged build adds nothing. */
static int store_body(struct store *s, const char *body, struct err *err)
{
    char sha256[SHA256_HEX_LEN + 1];
    SQL_KEPT stmt = sql_keep(s, "INSERT OR IGNORE INTO document (sha256, body) VALUES (?1, ?2)", err);
    if (!stmt)
        return -1;
    sha256_of(body, strlen(body), sha256);
    sql_bind_text(stmt, 1, sha256);
    sql_bind_text(stmt, 2, body);
    return sql_run(s, stmt, err);
}

static int store_files(struct store *s, int64_t run_key, const struct run_details *d, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "INSERT INTO file (run_id, path, size, sha256, document_id) VALUES (?1, ?2, ?3,"
                             " ?4, (SELECT id FROM document WHERE sha256 = ?5))",
                             err);
    for (size_t i = 0; stmt && i < d->n_files; i++) {
        const struct run_file *f = &d->files[i];
        char body[SHA256_HEX_LEN + 1] = "";
        if (f->body) {
            sha256_of(f->body, strlen(f->body), body);
            if (store_body(s, f->body, err))
                return -1;
        }
        sql_bind_int(stmt, 1, run_key);
        sql_bind_text(stmt, 2, f->path);
        sql_bind_int(stmt, 3, f->size);
        sql_bind_text(stmt, 4, f->sha256);
        sql_bind_text_or_null(stmt, 5, body);
        if (sql_run(s, stmt, err))
            return -1;
    }
    return stmt ? 0 : -1;
}

int details_store(struct store *s, int64_t run_key, const struct run_details *d, struct err *err)
{
    return store_gates(s, run_key, d, err) || store_files(s, run_key, d, err) ? -1 : 0;
}

static int load_gates(struct store *s, int64_t run_key, struct run_details *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        s,
        "SELECT variant, name, status, reason, wall_s FROM gate WHERE run_id = ?1 ORDER BY variant, position",
        err);
    if (!stmt)
        return -1;
    sql_bind_int(stmt, 1, run_key);
    int rc;
    while ((rc = sql_step(s, stmt, err)) > 0) {
        struct run_gate *items = reallocarray(out->gates, out->n_gates + 1, sizeof *items);
        char status[32];
        if (!items)
            return err_set(err, ERR_INTERNAL, "no memory for the run's gates");
        out->gates = items;
        struct run_gate *g = &items[out->n_gates++];
        g->variant = (size_t)sql_int(stmt, 0, 0);
        sql_text(stmt, 1, g->name, sizeof g->name);
        sql_text(stmt, 2, status, sizeof status);
        sql_text(stmt, 3, g->reason, sizeof g->reason);
        g->passed = strcmp(status, status_name(STATUS_OK)) == 0;
        g->wall_s = sql_num(stmt, 4);
    }
    return rc;
}

static int load_files(struct store *s, int64_t run_key, struct run_details *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT f.path, f.size, f.sha256, d.body FROM file f LEFT JOIN document d"
                                " ON d.id = f.document_id WHERE f.run_id = ?1 ORDER BY f.path",
                                err);
    if (!stmt)
        return -1;
    sql_bind_int(stmt, 1, run_key);
    int rc;
    while ((rc = sql_step(s, stmt, err)) > 0) {
        struct run_file *items = reallocarray(out->files, out->n_files + 1, sizeof *items);
        const char *body = (const char *)sqlite3_column_text(stmt, 3);
        if (!items)
            return err_set(err, ERR_INTERNAL, "no memory for the run's files");
        out->files = items;
        struct run_file *f = &items[out->n_files++];
        *f = (struct run_file){.size = sql_int(stmt, 1, 0), .body = body ? strdup(body) : NULL};
        sql_text(stmt, 0, f->path, sizeof f->path);
        sql_text(stmt, 2, f->sha256, sizeof f->sha256);
        if (body && !f->body)
            return err_set(err, ERR_INTERNAL, "no memory for the run's files");
    }
    return rc;
}

int details_load(struct store *s, int64_t run_key, struct run_details *out, struct err *err)
{
    *out = (struct run_details){0};
    return load_gates(s, run_key, out, err) || load_files(s, run_key, out, err) ? -1 : 0;
}
