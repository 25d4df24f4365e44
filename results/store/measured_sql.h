/* measured_sql: binds and reads what was measured of a test or a build, in statements that name all of its
 * columns: the metrics (metric.def), and what the card did during a test (struct run_activity), whose mean
 * shader clock and energy are metrics. */
#pragma once

#include "results/store/run_data.h"
#include "results/store/sql.h"

/* value: double[METRIC_COUNT]; metrics of other kinds are left alone. */
void metric_bind(struct sql_stmt *stmt, enum metric_kind kind, const double *value);
void metric_read(struct sql_stmt *stmt, enum metric_kind kind, double *value);

#define ACTIVITY_COLUMNS                                                                                     \
    ", sclk_p5_mhz, mclk_mhz, mclk_p5_mhz, power_w, temp_c, throttled_s, throttle, joules_from, neighbours," \
    " activity_window"
#define ACTIVITY_PARAMS                                                                                      \
    ", :sclk_p5_mhz, :mclk_mhz, :mclk_p5_mhz, :power_w, :temp_c, :throttled_s, :throttle, :joules_from,"     \
    " :neighbours, :activity_window"

void activity_bind(struct sql_stmt *stmt, const struct run_test *t);
void activity_read(struct sql_stmt *stmt, struct run_activity *out);
