/* best_table: the best point of each group, in English: the answers, one line each, then all points. */
#pragma once

#include "common/base/buf.h"
#include "results/judge/search/best_groups.h"

enum best_form { BEST_PLAIN, BEST_COLOUR, BEST_MARKDOWN };

/* runs: how many the groups were made of. ERR_INTERNAL when it does not fit. */
int best_table(const struct best_groups *g, size_t runs, enum best_form form, struct buf *out,
               struct err *err);
