/* probe: the node's facts as JSON (node.json), for a harness that has not started a run yet.
 */
#ifndef KERNSWEEP_EXECUTOR_COMMANDS_PROBE_H
#define KERNSWEEP_EXECUTOR_COMMANDS_PROBE_H

#include "common/base/err.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

/* model: a GGUF file whose metadata to add, or NULL. The caller owns the result; NULL on error. */
json_t *probe(const struct layout *layout, const char *model, struct err *err);

#endif
