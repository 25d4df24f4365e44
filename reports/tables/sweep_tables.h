/* sweep_tables: the tables of a sweep of several nodes, for documents and terminals. Each function fills an
 * initialised struct table, which the caller writes and releases.
 */
#pragma once

#include "reports/model/sweep.h"
#include "reports/render/table.h"
#include "reports/words/message.h"

/* Nodes beside each other in one table. */
enum { SWEEP_TABLE_SIDES = 5 };

/* Node, Run, Status, Tests, Duration, vs the reference, Range, Reason. */
void table_sweep_nodes(struct table *t, const struct sweep_model *m, enum report_lang lang);
/* The sides that a table shows: the reference and the `part`-th few of the others. Returns how many; 0: there
 * is no such part. sides: size_t[SWEEP_TABLE_SIDES]. */
size_t sweep_table_sides(const struct sweep_model *m, size_t part, size_t *sides);
/* Context, Variant, and the primary metric on each of the sides, with its ratio to the reference. */
void table_sweep_cells(struct table *t, const struct sweep_model *m, const size_t *sides, size_t n,
                       enum report_lang lang);
/* Fact, and its value on each of the sides: those that differ between any of all sides. */
void table_sweep_facts(struct table *t, const struct sweep_model *m, const size_t *sides, size_t n,
                       enum report_lang lang);
