/* axis_columns: the values of a plan's axes as columns of a table, one per axis that varies. The dimensions
 * of a kernel plan's shapes are not among them: they are in the names of its variants.
 */
#pragma once

#include "reports/render/table.h"
#include "results/judge/compare.h"

enum { AXIS_COLUMNS_MAX = 8, AXIS_TITLE_MAX = 64 };

struct axis_columns {
    char name[AXIS_COLUMNS_MAX][AXIS_TITLE_MAX];
    size_t count;
};

/* Which axes vary among these variants. */
void axis_columns_take(struct axis_columns *c, const struct run_variant *const *variants, size_t n);
void axis_columns_add(const struct axis_columns *c, struct table *t);
/* The cells of a row. */
void axis_columns_row(const struct axis_columns *c, const struct run_variant *v, struct table *t);
