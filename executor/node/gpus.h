/* gpus: the GPUs of a node and the processes that use them, from the sysfs of amdgpu and kfd, and from NVML
 * or, without it, the procfs of NVIDIA's driver. Arrays of objects as in node.json, which the caller owns.
 */
#pragma once

#include "executor/telemetry/nvml.h"
#include "executor/workdir/layout.h"

#include <jansson.h>

json_t *gpus_amd(const struct layout *l);
json_t *gpus_amd_processes(const struct layout *l);
/* facts NULL: only what the driver's procfs shows. */
json_t *gpus_nvidia(const struct layout *l, const struct nvml_facts *facts);
/* first: the place of the first of them among the node's GPUs. */
json_t *gpus_nvidia_processes(const struct nvml_facts *facts, size_t first);
