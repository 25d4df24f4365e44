#include "results/query/noise_store.h"

#include "common/base/alloc.h"
#include "results/query/plan_cells.h"
#include "results/store/sql.h"
#include "results/store/when.h"

#include <math.h>
#include <stdlib.h>

static int save_cells(struct store *s, const struct run_info *run, const struct noise *n, struct err *err)
{
    const int64_t now = llround(clock_real_s() * 1e3);
    SQL_STMT stmt = sql_prepare(
        s,
        "INSERT OR REPLACE INTO noise (series_id, metric, spread, runs, measured_at)"
        " SELECT id, :metric, :spread, :runs, :now FROM series WHERE node = :node AND ticket = :ticket AND "
        "mode = :mode AND variant = :variant"
        " AND context_len = :context",
        err);
    for (size_t i = 0; i < n->count; i++) {
        const struct noise_cell *c = &n->cells[i];
        plan_cell_bind(stmt, run, c->variant, c->context, c->metric);
        sql_bind_num(stmt, ":spread", c->spread);
        sql_bind_int(stmt, ":runs", c->runs);
        sql_bind_int(stmt, ":now", now);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

int noise_save(struct store *s, const struct run_info *run, const struct noise *n, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    return sql_end(s, save_cells(s, run, n, err), err);
}

static void read_cell(struct sql_stmt *stmt, struct noise *out)
{
    struct noise_cell c = {.within = NAN};
    c.spread = sql_col_num(stmt, "spread");
    c.runs = (int)sql_col_int(stmt, "runs", 0);
    if (!plan_cell_read(stmt, c.variant, &c.context, &c.metric))
        return;
    ALLOC_GROW(out->cells, out->count + 1, out->cap);
    out->cells[out->count++] = c;
}

int noise_load(struct store *s, const struct run_info *run, struct noise *out, struct err *err)
{
    *out = (struct noise){0};
    SQL_STMT stmt = sql_prepare(
        s,
        "SELECT c.variant, c.context_len, n.metric, n.spread, n.runs FROM series c"
        " JOIN noise n ON n.series_id = c.id WHERE c.node = :node AND c.ticket = :ticket AND c.mode = :mode",
        err);
    plan_bind(stmt, run->node, run->ticket, run->mode);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        read_cell(stmt, out);
    if (rc != 0)
        noise_release(out);
    else
        noise_sort(out);
    return rc;
}

#define CHOSEN                                                                                               \
    "(:node IS NULL OR c.node = :node) AND (:ticket IS NULL OR c.ticket = :ticket)"                          \
    " AND (:variant IS NULL OR c.variant = :variant)"                                                        \
    " AND (:session IS NULL OR n.measured_at / 1000 = :session)"

static void bind_filter(struct sql_stmt *stmt, const struct noise_filter *f)
{
    sql_bind_text(stmt, ":node", f->node);
    sql_bind_text(stmt, ":ticket", f->ticket);
    sql_bind_text(stmt, ":variant", f->variant);
    sql_bind_int_or_null(stmt, ":session", f->session_s, 0);
}

static void read_row(struct sql_stmt *stmt, struct noise_row *r)
{
    *r = (struct noise_row){.context = (int)sql_col_int(stmt, "context_len", 0),
                            .runs = (int)sql_col_int(stmt, "runs", 0),
                            .spread = sql_col_num(stmt, "spread")};
    sql_col_text(stmt, "node", r->node, sizeof r->node);
    sql_col_text(stmt, "ticket", r->ticket, sizeof r->ticket);
    sql_col_text(stmt, "mode", r->mode, sizeof r->mode);
    sql_col_text(stmt, "variant", r->variant, sizeof r->variant);
    sql_col_text(stmt, "metric", r->metric, sizeof r->metric);
    when_format(sql_col_int(stmt, "measured_at", WHEN_UNKNOWN), r->measured_at);
}

int noise_list(struct store *s, const struct noise_filter *f, struct noise_rows *out, struct err *err)
{
    *out = (struct noise_rows){0};
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT c.node, c.ticket, c.mode, c.variant, c.context_len, n.metric,"
                                " n.spread, n.runs, n.measured_at FROM noise n"
                                " JOIN series c ON c.id = n.series_id WHERE " CHOSEN
                                " ORDER BY n.measured_at / 1000 DESC, c.node, c.ticket, c.mode, c.variant,"
                                " c.context_len, n.metric",
                                err);
    bind_filter(stmt, f);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->items, out->count + 1, cap);
        read_row(stmt, &out->items[out->count++]);
    }
    if (rc != 0)
        noise_rows_release(out);
    return rc;
}

void noise_rows_release(struct noise_rows *l)
{
    free(l->items);
    *l = (struct noise_rows){0};
}

static int remove_locked(struct store *s, const struct noise_filter *f, int64_t *cells, struct err *err)
{
    SQL_STMT count = sql_prepare(s,
                                 "SELECT count(DISTINCT n.series_id) AS cells FROM noise n"
                                 " JOIN series c ON c.id = n.series_id WHERE " CHOSEN,
                                 err);
    SQL_STMT stmt = sql_prepare(s,
                                "DELETE FROM noise WHERE (series_id, metric) IN (SELECT n.series_id, n.metric"
                                " FROM noise n JOIN series c ON c.id = n.series_id WHERE " CHOSEN ")",
                                err);
    bind_filter(count, f);
    bind_filter(stmt, f);
    if (sql_step(count, err) != 1)
        return -1;
    *cells = sql_col_int(count, "cells", 0);
    return sql_run(stmt, err);
}

int noise_remove(struct store *s, const struct noise_filter *f, int64_t *cells, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    return sql_end(s, remove_locked(s, f, cells, err), err);
}
