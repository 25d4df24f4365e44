/* bench_export: commands that were measured against each other, in the form of hyperfine 1's --export-json:
 * wall times in seconds, CPU times as means. */
#pragma once

#include "reports/tables/bench.h"

#include <jansson.h>

/* parameters: an object of texts for each command. Commands without a measured run are left out. */
json_t *bench_export(const struct bench_table *b, const json_t *parameters);
