#include "results/store/measured_sql.h"

#include "common/base/word.h"

#include <math.h>
#include <string.h>

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

void activity_bind(struct sql_stmt *stmt, const struct run_test *t)
{
    const struct run_activity *a = &t->activity;
    const char *from = isnan(t->value[METRIC_JOULES]) ? "" : a->joules_measured ? "accumulator" : "power";
    sql_bind_num(stmt, ":sclk_p5_mhz", a->sclk_p5_mhz);
    sql_bind_num(stmt, ":mclk_mhz", a->mclk_mhz);
    sql_bind_num(stmt, ":mclk_p5_mhz", a->mclk_p5_mhz);
    sql_bind_num(stmt, ":power_w", a->power_w);
    sql_bind_num(stmt, ":temp_c", a->temp_c);
    sql_bind_num(stmt, ":throttled_s", a->throttled_s);
    sql_bind_text_or_null(stmt, ":throttle", a->throttle);
    sql_bind_text_or_null(stmt, ":joules_from", from);
    sql_bind_int_or_null(stmt, ":neighbours", a->neighbours, RUN_UNKNOWN);
    sql_bind_text_or_null(stmt, ":activity_window", a->window);
}

void activity_read(struct sql_stmt *stmt, struct run_activity *out)
{
    char from[16];
    out->sclk_p5_mhz = sql_col_num(stmt, "sclk_p5_mhz");
    out->mclk_mhz = sql_col_num(stmt, "mclk_mhz");
    out->mclk_p5_mhz = sql_col_num(stmt, "mclk_p5_mhz");
    out->power_w = sql_col_num(stmt, "power_w");
    out->temp_c = sql_col_num(stmt, "temp_c");
    out->throttled_s = sql_col_num(stmt, "throttled_s");
    out->throttle = word(sql_col_str(stmt, "throttle", NULL));
    sql_col_text(stmt, "joules_from", from, sizeof from);
    out->joules_measured = strcmp(from, "accumulator") == 0;
    out->neighbours = (int)sql_col_int(stmt, "neighbours", RUN_UNKNOWN);
    sql_col_text(stmt, "activity_window", out->window, sizeof out->window);
}
