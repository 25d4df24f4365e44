/* cause_gpus: the facts of the GPUs that tests ran on, whatever number a GPU has in either run. Those of a
 * node's other GPUs explain nothing, and a GPU that was renumbered is the same one. Pure.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_CAUSES_CAUSE_GPUS_H
#define KERNSWEEP_RESULTS_JUDGE_CAUSES_CAUSE_GPUS_H

#include "results/judge/facts.h"

/* The tests of a cell, or of all (variant ""). *named: both runs' tests say on which GPUs they ran, and the
 * facts of `now` have all of those; otherwise *out is empty, and nothing is known about which facts are
 * theirs. Differences are those of GPUs that both runs' facts have, with the key of `now`. The owner calls
 * fact_list_release(out). */
void cause_gpu_facts(const struct run_data *before, const struct run_data *now, const char *variant,
                     int context, bool *named, struct fact_list *out);

#endif
