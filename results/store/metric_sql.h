/* metric_sql: binds and reads the metrics of a test or a build, in statements that name all of their columns
 * (metric.def). */
#ifndef KERNSWEEP_RESULTS_STORE_METRIC_SQL_H
#define KERNSWEEP_RESULTS_STORE_METRIC_SQL_H

#include "results/store/metric.h"
#include "results/store/sql.h"

/* value: double[METRIC_COUNT]; metrics of other kinds are left alone. */
void metric_bind(struct sql_stmt *stmt, enum metric_kind kind, const double *value);
void metric_read(struct sql_stmt *stmt, enum metric_kind kind, double *value);

#endif
