/* sclk_limits: the range of an AMD GPU's shader clock that is set now, as amdgpu's sysfs shows it. Reads
 * only.
 */
#ifndef KERNSWEEP_EXECUTOR_CLOCKS_SCLK_LIMITS_H
#define KERNSWEEP_EXECUTOR_CLOCKS_SCLK_LIMITS_H

#include <stdbool.h>

struct sclk_limits {
    int min_mhz, max_mhz;
};

/* device: .../class/drm/cardN/device. False: not shown. */
bool sclk_limits_read(const char *device, struct sclk_limits *out);

#endif
