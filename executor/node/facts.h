/* facts: what kind of machine the node is (node.json): system, compilers, GPUs, who uses them, leftovers of
 * earlier runs. Read from files, except the compilers' versions and NVIDIA's GPUs. What cannot be determined
 * is null or absent, never guessed.
 */
#pragma once

#include "common/base/err.h"
#include "executor/process/loop.h"
#include "executor/telemetry/nvml.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

/* model: the GGUF file that a run will read, absolute or relative to the home folder, or NULL. The caller
 * owns the result. NULL on error. */
json_t *node_probe(const struct layout *l, struct loop *loop, struct nvml *nvml, const char *model,
                   struct err *err);

/* Returns all GPUs, numbered: an array of objects as in node.json. */
json_t *node_gpus(const struct layout *l, struct nvml *nvml);
