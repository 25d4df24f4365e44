#include "results/store/neighbours.h"

#include "results/store/sql.h"

#include <stdio.h>
#include <string.h>

static bool is_listed(const struct suffering *l, const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->name[i], name) == 0)
            return true;
    return false;
}

/* A row of one metric of a cell; an interval that reaches beyond nothing says nothing. */
static bool is_worse(struct sql_stmt *stmt, enum metric m, double practical)
{
    double low = sql_col_num(stmt, "low"), high = sql_col_num(stmt, "high");
    return metric_info(m)->better == METRIC_LESS ? low > 1 + practical : high < 1 - practical;
}

static void take_row(struct sql_stmt *stmt, enum metric primary, double practical, struct suffering *out)
{
    char variant[RUN_NAME_MAX], metric[RUN_NAME_MAX];
    enum metric m;
    sql_col_text(stmt, "variant", variant, sizeof variant);
    sql_col_text(stmt, "metric", metric, sizeof metric);
    if (out->count == NEIGHBOURS_MAX || !metric_from_name(metric, &m) || m != primary ||
        !is_worse(stmt, m, practical) || is_listed(out, variant))
        return;
    memcpy(out->name[out->count++], variant, sizeof variant);
}

static struct sql_stmt *prepare(struct store *s, const char *node, const char *ticket, const char *mode,
                                struct err *err)
{
    struct sql_stmt *stmt =
        sql_prepare(s,
                    "SELECT c.variant, t.metric, t.low, t.high FROM series c JOIN together t ON"
                    " t.series_id = c.id WHERE c.node = :node AND c.ticket = :ticket AND c.mode = :mode"
                    " ORDER BY c.variant, c.context_len",
                    err);
    if (stmt) {
        sql_bind_text(stmt, ":node", node);
        sql_bind_text(stmt, ":ticket", ticket);
        sql_bind_text(stmt, ":mode", mode);
    }
    return stmt;
}

int suffering_load(struct store *s, const char *node, const char *ticket, const char *mode, double practical,
                   struct suffering *out, struct err *err)
{
    struct metric_set measured = {0};
    int rc;
    out->count = 0;
    SQL_STMT stmt = prepare(s, node, ticket, mode, err);
    while ((rc = sql_step(stmt, err)) > 0) {
        char metric[RUN_NAME_MAX];
        enum metric m;
        sql_col_text(stmt, "metric", metric, sizeof metric);
        if (metric_from_name(metric, &m))
            measured.has[m] = true;
    }
    enum metric primary = metric_primary(metric_default(), &measured);
    sql_reset(stmt);
    while (rc == 0 && (rc = sql_step(stmt, err)) > 0) {
        take_row(stmt, primary, practical, out);
        rc = 0;
    }
    return rc < 0 ? -1 : 0;
}
