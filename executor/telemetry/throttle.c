#include "executor/telemetry/throttle.h"

#include <stddef.h>

static const char *const names[THROTTLE_REASONS] = {"power",   "thermal",  "memory", "regulator",
                                                    "current", "hardware", "sync",   "other"};

/* Bits first to last mean `reason`. */
struct meaning {
    int first, last;
    enum throttle reason;
};

/* Bits 0 (idle), 1 (clocks of applications) and 8 (clock of a display) are settings. */
static const struct meaning nvml[] = {
    {2, 2, THROTTLE_POWER},   {3, 3, THROTTLE_HARDWARE}, {4, 4, THROTTLE_SYNC},
    {5, 6, THROTTLE_THERMAL}, {7, 7, THROTTLE_HARDWARE},
};

static const struct meaning amdgpu[] = {
    {0, 7, THROTTLE_POWER},     {16, 23, THROTTLE_CURRENT},   {32, 33, THROTTLE_THERMAL},
    {34, 34, THROTTLE_MEMORY},  {35, 37, THROTTLE_THERMAL},   {38, 41, THROTTLE_REGULATOR},
    {42, 43, THROTTLE_THERMAL}, {44, 45, THROTTLE_REGULATOR}, {46, 47, THROTTLE_HARDWARE},
    {56, 57, THROTTLE_OTHER},
};

const char *throttle_name(int i)
{
    return names[i];
}

static unsigned translate(uint64_t bits, const struct meaning *m, size_t n)
{
    unsigned out = 0;
    for (size_t i = 0; i < n; i++)
        for (int bit = m[i].first; bit <= m[i].last; bit++)
            if (bits >> bit & 1)
                out |= m[i].reason;
    return out;
}

unsigned throttle_of_nvml(uint64_t reasons)
{
    return translate(reasons, nvml, sizeof nvml / sizeof *nvml);
}

unsigned throttle_of_amdgpu(uint64_t status)
{
    return translate(status, amdgpu, sizeof amdgpu / sizeof *amdgpu);
}
