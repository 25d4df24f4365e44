#include "results/store/metric_sql.h"

void metric_bind(struct sql_stmt *stmt, enum metric_kind kind, const double *value)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        if (info->kind != kind)
            continue;
        if (info->whole)
            sql_bind_bytes(stmt, info->param, value[m]);
        else
            sql_bind_num(stmt, info->param, value[m]);
    }
}

void metric_read(struct sql_stmt *stmt, enum metric_kind kind, double *value)
{
    for (int m = 0; m < METRIC_COUNT; m++)
        if (metric_info((enum metric)m)->kind == kind)
            value[m] = sql_col_num(stmt, metric_info((enum metric)m)->column);
}
