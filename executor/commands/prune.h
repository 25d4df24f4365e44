/* prune: removes sources and builds that have not been used for some days and that no run on the node refers
 * to.
 */
#ifndef KERNSWEEP_EXECUTOR_COMMANDS_PRUNE_H
#define KERNSWEEP_EXECUTOR_COMMANDS_PRUNE_H

#include "common/base/err.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

/* days: at least 1. {"removed": {"src": N, ...}, "running": a run's id or null}, which the caller owns; NULL
 * on error. */
json_t *prune(const struct layout *layout, int64_t days, struct err *err);

#endif
