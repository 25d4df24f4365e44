/* noise_gpus: `kernsweep noise PLAN --gpus`: measures the plan's cells on one GPU alone and on all GPUs of
 * the node at once, in rounds whose order alternates, and stores how much slower each cell is among
 * neighbours. Variants that suffer run alone in later runs of the plan. */
#pragma once

#include "harness/commands/base/cmd.h"
#include "harness/session/session.h"
#include "results/store/store.h"

/* Returns an exit code, or -1 with err. rounds: at least 2. opt->purpose: the purpose of the runs. */
int noise_gpus(struct cmd_env *env, const char *plan, const struct session_options *opt, size_t rounds,
               struct store *s, struct err *err);
