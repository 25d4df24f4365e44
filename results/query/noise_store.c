#include "results/query/noise_store.h"

#include "common/base/alloc.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdlib.h>

static int save_cells(struct store *s, const struct run_info *run, const struct noise *n, struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        s,
        "INSERT OR REPLACE INTO noise (series_id, metric, spread, runs, measured_at)"
        " SELECT id, :metric, :spread, :runs, :now FROM series WHERE node = :node AND ticket = :ticket AND "
        "mode = :mode AND variant = :variant"
        " AND context_len = :context",
        err);
    for (size_t i = 0; stmt && i < n->count; i++) {
        const struct noise_cell *c = &n->cells[i];
        sql_bind_text(stmt, ":node", run->node);
        sql_bind_text(stmt, ":ticket", run->ticket);
        sql_bind_text(stmt, ":mode", run->mode);
        sql_bind_text(stmt, ":variant", c->variant);
        sql_bind_int(stmt, ":context", c->context);
        sql_bind_text(stmt, ":metric", metric_info(c->metric)->name);
        sql_bind_num(stmt, ":spread", c->spread);
        sql_bind_int(stmt, ":runs", c->runs);
        sql_bind_int(stmt, ":now", llround(clock_real_s() * 1e3));
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return stmt ? 0 : -1;
}

int noise_save(struct store *s, const struct run_info *run, const struct noise *n, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    return sql_end(s, save_cells(s, run, n, err), err);
}

static int read_cell(struct sql_stmt *stmt, struct noise *out, size_t *cap, struct err *err)
{
    char name[RUN_NAME_MAX];
    struct noise_cell c = {.context = (int)sql_col_int(stmt, "context_len", 0), .within = NAN};
    sql_col_text(stmt, "variant", c.variant, sizeof c.variant);
    sql_col_text(stmt, "metric", name, sizeof name);
    c.spread = sql_col_num(stmt, "spread");
    c.runs = (int)sql_col_int(stmt, "runs", 0);
    if (!metric_from_name(name, &c.metric))
        return 0;
    if (!alloc_grow((void **)&out->cells, sizeof *out->cells, out->count + 1, cap))
        return err_set(err, ERR_INTERNAL, "no memory for the noise");
    out->cells[out->count++] = c;
    return 0;
}

int noise_load(struct store *s, const struct run_info *run, struct noise *out, struct err *err)
{
    *out = (struct noise){0};
    SQL_STMT stmt = sql_prepare(
        s,
        "SELECT c.variant, c.context_len, n.metric, n.spread, n.runs FROM series c"
        " JOIN noise n ON n.series_id = c.id WHERE c.node = :node AND c.ticket = :ticket AND c.mode = :mode",
        err);
    if (!stmt)
        return -1;
    sql_bind_text(stmt, ":node", run->node);
    sql_bind_text(stmt, ":ticket", run->ticket);
    sql_bind_text(stmt, ":mode", run->mode);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        if (read_cell(stmt, out, &cap, err) != 0) {
            rc = -1;
            break;
        }
    if (rc != 0)
        noise_release(out);
    else
        noise_sort(out);
    return rc;
}
