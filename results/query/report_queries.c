#include "results/query/report_queries.h"

#include "results/store/sql.h"

#include "common/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int report_plan_load(struct store *s, int64_t run_key, json_t **plan, struct err *err)
{
    *plan = NULL;
    SQL_STMT stmt = sql_prepare(
        s, "SELECT d.body FROM run r JOIN document d ON d.id = r.plan_document_id WHERE r.id = ?1", err);
    if (!stmt)
        return -1;
    sql_bind_int(stmt, 1, run_key);
    int rc = sql_step(s, stmt, err);
    if (rc <= 0)
        return rc;
    const char *body = (const char *)sqlite3_column_text(stmt, 0);
    *plan = json_parse(body ? body : "", (size_t)sqlite3_column_bytes(stmt, 0), s->path, err);
    return *plan ? 0 : -1;
}

int report_run_label(struct store *s, int64_t run_key, char *run_id, char *date, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "SELECT run_id, date FROM run WHERE id = ?1", err);
    if (!stmt)
        return -1;
    sql_bind_int(stmt, 1, run_key);
    int rc = sql_step(s, stmt, err);
    if (rc == 0)
        return err_set(err, ERR_STORAGE, "%s: a run of the history is gone", s->path);
    if (rc < 0)
        return -1;
    sql_text(stmt, 0, run_id, RUN_ID_MAX);
    sql_text(stmt, 1, date, 11);
    return 0;
}

/* Runs of the ticket up to this one. */
#define COST_ROWS                                                                                            \
    "SELECT r.id AS id, r.run_id, r.tag, r.date, r.status, r.wall_s,"                                        \
    " json_extract(d.body, '$.cost.per_hour') AS price,"                                                     \
    " json_extract(d.body, '$.cost.currency') AS currency,"                                                  \
    " (SELECT count(*) FROM test t WHERE t.run_id = r.id),"                                                  \
    " (SELECT count(*) FROM test t WHERE t.run_id = r.id AND t.status = 'OK')"                               \
    " FROM run r LEFT JOIN document d ON d.id = r.plan_document_id"                                          \
    " WHERE r.ticket = ?1 AND r.ordered_at <= (SELECT ordered_at FROM run WHERE id = ?2)"

static int read_row(struct store *s, sqlite3_stmt *stmt, struct cost_row *row, struct err *err)
{
    char status[32];
    sql_text(stmt, 1, row->run_id, sizeof row->run_id);
    sql_text(stmt, 2, row->tag, sizeof row->tag);
    sql_text(stmt, 3, row->date, sizeof row->date);
    sql_text(stmt, 4, status, sizeof status);
    row->wall_s = sql_num(stmt, 5);
    row->per_hour = sql_num(stmt, 6);
    sql_text(stmt, 7, row->currency, sizeof row->currency);
    row->tests = (int)sql_int(stmt, 8, 0);
    row->ok = (int)sql_int(stmt, 9, 0);
    return run_status_from_name(status, &row->status)
               ? 0
               : err_set(err, ERR_STORAGE, "%s: run %s has the unknown status %s", s->path, row->run_id,
                         status);
}

static int load_rows(struct store *s, const struct run_info *run, size_t most, struct cost_list *out,
                     struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, COST_ROWS " ORDER BY r.ordered_at DESC, r.id DESC LIMIT ?3", err);
    if (!stmt)
        return -1;
    sql_bind_text(stmt, 1, run->ticket);
    sql_bind_int(stmt, 2, run->key);
    sql_bind_int(stmt, 3, (int64_t)most);
    int rc;
    while ((rc = sql_step(s, stmt, err)) > 0)
        if (out->count == most || read_row(s, stmt, &out->rows[out->count++], err) != 0)
            return -1;
    for (size_t i = 0; i < out->count / 2; i++) {
        struct cost_row swap = out->rows[i];
        out->rows[i] = out->rows[out->count - 1 - i];
        out->rows[out->count - 1 - i] = swap;
    }
    return rc;
}

static int load_totals(struct store *s, const struct run_info *run, struct cost_list *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "WITH rows AS (" COST_ROWS
                                ") SELECT count(*), sum(wall_s), sum(CASE WHEN currency IS (SELECT currency"
                                " FROM rows WHERE id = ?2) THEN wall_s * price / 3600 END) FROM rows",
                                err);
    if (!stmt)
        return -1;
    sql_bind_text(stmt, 1, run->ticket);
    sql_bind_int(stmt, 2, run->key);
    int rc = sql_step(s, stmt, err);
    if (rc <= 0)
        return rc;
    out->runs = (size_t)sql_int(stmt, 0, 0);
    out->wall_s = sql_num(stmt, 1);
    out->cost = sql_num(stmt, 2);
    return 0;
}

int report_costs_load(struct store *s, const struct run_info *run, size_t most, struct cost_list *out,
                      struct err *err)
{
    *out = (struct cost_list){.wall_s = (double)NAN, .cost = (double)NAN};
    out->rows = calloc(most, sizeof *out->rows);
    if (!out->rows)
        return err_set(err, ERR_INTERNAL, "no memory for the costs");
    return load_rows(s, run, most, out, err) || load_totals(s, run, out, err) ? -1 : 0;
}

void report_costs_release(struct cost_list *l)
{
    free(l->rows);
    *l = (struct cost_list){0};
}
