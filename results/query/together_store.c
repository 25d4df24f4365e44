#include "results/query/together_store.h"

#include "common/base/alloc.h"
#include "results/query/plan_cells.h"
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
    for (size_t i = 0; i < t->count; i++) {
        const struct together_cell *c = &t->cells[i];
        plan_cell_bind(stmt, run, c->variant, c->context, c->metric);
        sql_bind_num(stmt, ":ratio", c->ratio);
        sql_bind_num(stmt, ":low", c->low);
        sql_bind_num(stmt, ":high", c->high);
        sql_bind_int(stmt, ":gpus", c->gpus);
        sql_bind_int(stmt, ":now", now);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

int together_save(struct store *s, const struct run_info *run, const struct together *t, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    return sql_end(s, save_cells(s, run, t, err), err);
}

static void read_cell(struct sql_stmt *stmt, struct together *out)
{
    struct together_cell c = {.ratio = sql_col_num(stmt, "ratio"),
                              .low = sql_col_num(stmt, "low"),
                              .high = sql_col_num(stmt, "high"),
                              .gpus = (int)sql_col_int(stmt, "gpus", 0)};
    if (!plan_cell_read(stmt, c.variant, &c.context, &c.metric))
        return;
    ALLOC_GROW(out->cells, out->count + 1, out->cap);
    out->cells[out->count++] = c;
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
    plan_bind(stmt, node, ticket, mode);
    int rc;
    while ((rc = sql_step(stmt, err)) > 0)
        read_cell(stmt, out);
    if (rc != 0)
        together_release(out);
    else
        together_sort(out);
    return rc;
}
