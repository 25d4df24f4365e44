/* throttle: the reasons why a card runs slower than it was asked to, as bits of one number, whatever its
 * maker calls them. An idle card and a clock that somebody set are no reasons.
 */
#pragma once

#include <stdint.h>

enum throttle {
    THROTTLE_POWER = 1 << 0,     /* the power cap */
    THROTTLE_THERMAL = 1 << 1,   /* the temperature of the chip */
    THROTTLE_MEMORY = 1 << 2,    /* the temperature of the memory */
    THROTTLE_REGULATOR = 1 << 3, /* the temperature of the voltage regulators */
    THROTTLE_CURRENT = 1 << 4,
    THROTTLE_HARDWARE = 1 << 5, /* a signal of the board: brake, over-temperature, PROCHOT */
    THROTTLE_SYNC = 1 << 6,     /* another card of a group that keeps one clock */
    THROTTLE_OTHER = 1 << 7,
};

enum { THROTTLE_REASONS = 8 };

/* Returns the name of bit i, from 0: "power". */
const char *throttle_name(int i);
/* Translates NVML's event reasons. */
unsigned throttle_of_nvml(uint64_t reasons);
/* Translates amdgpu's indep_throttle_status. */
unsigned throttle_of_amdgpu(uint64_t status);
