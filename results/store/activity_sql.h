/* activity_sql: binds and reads what the card did during a test (struct run_activity), in statements that
 * name all of its columns. The shader clock's mean and the energy are metrics (metric_sql.h). */
#ifndef KERNSWEEP_RESULTS_STORE_ACTIVITY_SQL_H
#define KERNSWEEP_RESULTS_STORE_ACTIVITY_SQL_H

#include "results/store/run_data.h"
#include "results/store/sql.h"

#define ACTIVITY_COLUMNS                                                                                     \
    ", sclk_p5_mhz, mclk_mhz, mclk_p5_mhz, power_w, temp_c, throttled_s, throttle, joules_from, neighbours," \
    " activity_window"
#define ACTIVITY_PARAMS                                                                                      \
    ", :sclk_p5_mhz, :mclk_mhz, :mclk_p5_mhz, :power_w, :temp_c, :throttled_s, :throttle, :joules_from,"     \
    " :neighbours, :activity_window"

void activity_bind(struct sql_stmt *stmt, const struct run_test *t);
void activity_read(struct sql_stmt *stmt, struct run_activity *out);

#endif
