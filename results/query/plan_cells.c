#include "results/query/plan_cells.h"

void plan_bind(struct sql_stmt *stmt, const char *node, const char *ticket, const char *mode)
{
    sql_bind_text(stmt, ":node", node);
    sql_bind_text(stmt, ":ticket", ticket);
    sql_bind_text(stmt, ":mode", mode);
}

void plan_cell_bind(struct sql_stmt *stmt, const struct run_info *run, const char *variant, int context,
                    enum metric m)
{
    plan_bind(stmt, run->node, run->ticket, run->mode);
    sql_bind_text(stmt, ":variant", variant);
    sql_bind_int(stmt, ":context", context);
    sql_bind_text(stmt, ":metric", metric_info(m)->name);
}

bool plan_cell_read(struct sql_stmt *stmt, char *variant, int *context, enum metric *m)
{
    char name[RUN_NAME_MAX];
    sql_col_text(stmt, "variant", variant, RUN_NAME_MAX);
    sql_col_text(stmt, "metric", name, sizeof name);
    *context = (int)sql_col_int(stmt, "context_len", 0);
    return metric_from_name(name, m);
}
