/* best_output: the best point of each group, as text, Markdown and JSON. */
#pragma once

#include "harness/commands/base/cmd.h"
#include "results/judge/search/best_groups.h"

json_t *best_encode(const struct best_groups *g, const struct run_data *runs, size_t n);
/* Prints the answers, one line each, then the points. */
int best_print(const struct best_groups *g, size_t runs, bool markdown, struct err *err);
