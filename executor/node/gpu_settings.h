/* gpu_settings: what an administrator has set on one AMD GPU, and what its hardware reports of its health:
 * partitions, clock limits, power cap, PCIe, firmware, error counters, XGMI links. From sysfs only; what
 * cannot be read has no key. Nothing here changes a setting.
 */
#pragma once

#include "executor/workdir/layout.h"

#include <jansson.h>

/* Adds to gpu, an object of node.json's "gpus" that has its unique_id. device: .../class/drm/cardN/device */
void gpu_settings_amd(const struct layout *l, const char *device, json_t *gpu);

/* Returns the memory errors of an AMD GPU that could not be corrected; -1: not counted. device: as above. */
long long gpu_settings_uncorrectable(const char *device);
