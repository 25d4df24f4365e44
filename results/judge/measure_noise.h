/* measure_noise: the variation between the runs of an A/A sweep, in which nothing changed.
 *
 * From several runs of one plan on one node with the same sources: each cell's relative spread between the
 * runs, and how often the given thresholds alone would call two of them different. Pure.
 */
#pragma once

#include "results/judge/compare.h"
#include "results/judge/noise.h"

/* At least two runs, all of one node, ticket and mode and with the same sources and, as far as known, code.
 */
int noise_measure(const struct run_data *const *runs, size_t n, const struct compare_options *options,
                  struct noise *out, struct err *err);
