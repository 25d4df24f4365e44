/* best_table: the best point of each group: the answers, one line each, then all points. */
#pragma once

#include "reports/render/markdown.h"
#include "reports/render/table.h"
#include "results/judge/search/best_groups.h"

/* In English. runs: how many the groups were made of. screen NULL: as Markdown. ERR_INTERNAL when it does not
 * fit. */
int best_table(const struct best_groups *g, size_t runs, const struct screen *screen, struct buf *out,
               struct err *err);
/* One item for each of the first groups of a run whose plan has axes; nothing for others. */
void best_items(const struct run_data *run, enum metric metric, struct md *w);
