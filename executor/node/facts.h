/* node: the facts of the machine (node.json): system, compilers, GPUs, who uses them, leftovers of earlier
 * runs. Read from files only, but for the compilers' versions. What cannot be told is null or absent, never
 * guessed.
 */
#ifndef KERNSWEEP_EXECUTOR_NODE_FACTS_H
#define KERNSWEEP_EXECUTOR_NODE_FACTS_H

#include "common/base/err.h"
#include "executor/process/loop.h"
#include "executor/telemetry/nvml.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

/* model: the GGUF file that a run will read, absolute or below the home folder, or NULL. The caller owns the
 * result. NULL on error. */
json_t *node_probe(const struct layout *l, struct loop *loop, struct nvml *nvml, const char *model,
                   struct err *err);

/* All of them, numbered: array of objects as in node.json. */
json_t *node_gpus(const struct layout *l, struct nvml *nvml);

/* Parts with a file of their own. */
json_t *node_amd_gpus(const struct layout *l);
json_t *node_amd_processes(const struct layout *l);
/* From the helper's facts; without them (NULL) only what the driver's procfs tells. */
json_t *node_nvidia_gpus(const struct layout *l, const struct nvml_facts *facts);
json_t *node_nvidia_processes(const struct nvml_facts *facts);

/* {"path", "size_bytes", "architecture", "context_length"}, or {"path", "error"}. */
json_t *node_model(const char *path);

/* The first line of root/name, without its end; NULL when it cannot be read. */
json_t *node_line(const char *root, const char *name);
/* A number in root/name; null when there is none. */
json_t *node_number(const char *root, const char *name);

#endif
