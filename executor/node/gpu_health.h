/* gpu_health: whether GPUs are as fit as they were when a run began: they still answer, and have had no
 * memory error that could not be corrected. It asks the sysfs of amdgpu and NVML. Whether a GPU gives its
 * memory back is suite/test's affair.
 */
#pragma once

#include "common/contract/proto.h"
#include "executor/telemetry/nvml.h"

enum { GPU_HEALTH_WHY_MAX = 256, GPU_HEALTH_GPUS_MAX = 64 };

struct gpu_condition {
    bool there;
    bool unread;      /* what NVML knows could not be read at this moment, so nothing is known of it */
    long long errors; /* uncorrectable ones so far; -1: not counted */
};

struct gpu_health {
    const struct layout *layout; /* borrowed, as nvml */
    struct nvml *nvml;
    size_t count;
    char name[GPU_HEALTH_GPUS_MAX][LIMIT_NAME + 1];
    struct gpu_condition first[GPU_HEALTH_GPUS_MAX];
};

/* Takes the condition to compare with. names: unique ids, or indices where there is none. */
void gpu_health_open(struct gpu_health *h, const struct layout *l, struct nvml *nvml,
                     const char (*names)[LIMIT_NAME + 1], size_t count);
/* To be called between tests, when NVML has just been asked for the memory in use. Returns false with why
 * (char[GPU_HEALTH_WHY_MAX]), what is wrong and what to do, when one of them is no longer fit. A GPU that
 * could not be seen at the beginning is not judged. */
bool gpu_health_look(const struct gpu_health *h, char *why);
