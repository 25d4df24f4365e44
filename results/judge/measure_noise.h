/* measure_noise: what differs between runs although nothing changed, from the runs of an A/A sweep.
 *
 * From several runs of one plan on one node and the same sources: each cell's relative spread between the
 * runs, and how often the given thresholds would have called a difference between two of them. Pure.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_MEASURE_NOISE_H
#define KERNSWEEP_RESULTS_JUDGE_MEASURE_NOISE_H

#include "results/judge/compare.h"
#include "results/judge/noise.h"

/* At least two runs; all of one node, ticket and mode, and of the same sources. */
int noise_measure(const struct run_data *const *runs, size_t n, const struct compare_options *options,
                  struct noise *out, struct err *err);

#endif
