/* gpu_settings: what an administrator has set on one AMD GPU, and what its hardware reports of its health:
 * partitions, clock limits, power cap, PCIe, firmware, error counters, XGMI links. From sysfs only; what
 * cannot be read has no key. Nothing here changes a setting.
 */
#pragma once

#include "executor/telemetry/amd_gpus.h"

#include <jansson.h>

/* Adds to gpu, its object of node.json's "gpus". */
void gpu_settings_amd(const struct amd_gpu *of, json_t *gpu);

/* Returns the memory errors of an AMD GPU that could not be corrected; -1: not counted. device:
 * .../class/drm/cardN/device */
long long gpu_settings_uncorrectable(const char *device);
