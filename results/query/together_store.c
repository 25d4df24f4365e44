#include "results/query/together_store.h"

#include "common/base/alloc.h"
#include "results/store/sql.h"

#include <math.h>

static int save_cells(struct store *s, const struct run_info *run, const struct together *t, struct err *err)
{
    const int64_t now = llround(clock_real_s() * 1e3);
    SQL_STMT stmt = sql_prepare(
        s,
        "INSERT OR REPLACE INTO together (series_id, metric, ratio, low, high, gpus, measured_at)"
        " SELECT id, :metric, :ratio, :low, :high, :gpus, :now FROM series WHERE node = :node"
        " AND ticket = :ticket AND mode = :mode AND variant = :variant AND context_len = :context",
        err);
    for (size_t i = 0; stmt && i < t->count; i++) {
        const struct together_cell *c = &t->cells[i];
        sql_bind_text(stmt, ":node", run->node);
        sql_bind_text(stmt, ":ticket", run->ticket);
        sql_bind_text(stmt, ":mode", run->mode);
        sql_bind_text(stmt, ":variant", c->variant);
        sql_bind_int(stmt, ":context", c->context);
        sql_bind_text(stmt, ":metric", metric_info(c->metric)->name);
        sql_bind_num(stmt, ":ratio", c->ratio);
        sql_bind_num(stmt, ":low", c->low);
        sql_bind_num(stmt, ":high", c->high);
        sql_bind_int(stmt, ":gpus", c->gpus);
        sql_bind_int(stmt, ":now", now);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return stmt ? 0 : -1;
}

int together_save(struct store *s, const struct run_info *run, const struct together *t, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    return sql_end(s, save_cells(s, run, t, err), err);
}

static int read_cell(struct sql_stmt *stmt, struct together *out, size_t *cap, struct err *err)
{
    char name[RUN_NAME_MAX];
    struct together_cell c = {.context = (int)sql_col_int(stmt, "context_len", 0),
                              .ratio = sql_col_num(stmt, "ratio"),
                              .low = sql_col_num(stmt, "low"),
                              .high = sql_col_num(stmt, "high"),
                              .gpus = (int)sql_col_int(stmt, "gpus", 0)};
    sql_col_text(stmt, "variant", c.variant, sizeof c.variant);
    sql_col_text(stmt, "metric", name, sizeof name);
    if (!metric_from_name(name, &c.metric))
        return 0;
    if (!alloc_grow((void **)&out->cells, sizeof *out->cells, out->count + 1, cap))
        return err_set(err, ERR_INTERNAL, "no memory for the cells");
    out->cells[out->count++] = c;
    return 0;
}

int together_load(struct store *s, const char *node, const char *ticket, const char *mode,
                  struct together *out, struct err *err)
{
    *out = (struct together){0};
    SQL_STMT stmt =
        sql_prepare(s,
                    "SELECT c.variant, c.context_len, n.metric, n.ratio, n.low, n.high, n.gpus FROM series c"
                    " JOIN together n ON n.series_id = c.id WHERE c.node = :node AND c.ticket = :ticket AND "
                    "c.mode = :mode",
                    err);
    if (!stmt)
        return -1;
    sql_bind_text(stmt, ":node", node);
    sql_bind_text(stmt, ":ticket", ticket);
    sql_bind_text(stmt, ":mode", mode);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        if (read_cell(stmt, out, &cap, err) != 0) {
            rc = -1;
            break;
        }
    if (rc != 0)
        together_release(out);
    else
        together_sort(out);
    return rc;
}
