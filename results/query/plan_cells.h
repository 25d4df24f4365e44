/* plan_cells: how rows that belong to a plan on a node, or to one of its cells, name it. */
#pragma once

#include "results/store/run_data.h"
#include "results/store/sql.h"

/* Binds :node, :ticket and :mode. */
void plan_bind(struct sql_stmt *stmt, const char *node, const char *ticket, const char *mode);
/* Binds those of the run, and :variant, :context and :metric. */
void plan_cell_bind(struct sql_stmt *stmt, const struct run_info *run, const char *variant, int context,
                    enum metric m);
/* Reads the columns variant, context_len and metric; false if the metric is unknown. variant:
 * char[RUN_NAME_MAX]. */
bool plan_cell_read(struct sql_stmt *stmt, char *variant, int *context, enum metric *m);
