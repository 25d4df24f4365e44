/* together_store: the stored slowdown of a plan's cells among neighbours, from the newest `kernsweep noise
 * --gpus` of each. Errors: ERR_STORAGE. */
#pragma once

#include "results/judge/together.h"
#include "results/store/store.h"

/* For the node, ticket and mode of `run`. */
int together_save(struct store *s, const struct run_info *run, const struct together *t, struct err *err);
int together_load(struct store *s, const char *node, const char *ticket, const char *mode,
                  struct together *out, struct err *err);
