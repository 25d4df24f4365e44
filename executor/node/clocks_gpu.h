/* clocks_gpu: one GPU whose clocks can be held, and what they are set to now. Reads only.
 */
#pragma once

#include "common/contract/proto.h"
#include "executor/workdir/layout.h"

#include <jansson.h>
#include <stdbool.h>

enum { CLOCKS_DEVICE_MAX = 512, CLOCKS_LEVEL_MAX = 32, CLOCKS_PCI_MAX = 32 };

struct clocks_gpu {
    char name[LIMIT_NAME + 1]; /* as its lock has it: unique id, or index */
    bool nvidia;
    int index;                      /* among the node's GPUs */
    char device[CLOCKS_DEVICE_MAX]; /* AMD: .../class/drm/cardN/device */
    char pci[CLOCKS_PCI_MAX];       /* AMD: 0000:05:00.0; "" unknown */
};

/* What an AMD GPU is set to. NVIDIA's driver does not tell. */
struct clocks_state {
    char level[CLOCKS_LEVEL_MAX]; /* amdgpu's performance level; "" unknown */
    int min_mhz, max_mhz;         /* of the shader clock; 0 unknown */
};

/* gpus: node.json's. Returns false if the node has no such GPU, or it cannot be told from others. */
bool clocks_gpu_find(const struct layout *l, const json_t *gpus, const char *name, struct clocks_gpu *out);
/* Returns false if it is unknown. */
bool clocks_state_read(const struct clocks_gpu *gpu, struct clocks_state *out);
/* Whether a and b stand for the same setting. The limits count only where a level lets them be set. */
bool clocks_state_equal(const struct clocks_state *a, const struct clocks_state *b);
/* Whether amdgpu knows the level. */
bool clocks_level_ok(const char *level);

/* The range of an AMD GPU's shader clock that is set now. */
struct sclk_limits {
    int min_mhz, max_mhz;
};

/* device: .../class/drm/cardN/device. Returns false if it does not show them. */
bool sclk_limits_read(const char *device, struct sclk_limits *out);
