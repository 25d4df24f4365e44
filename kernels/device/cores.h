// How many SMs or CUs the device in use has; 1 if it does not tell.
#pragma once

#include "device/device.h"

inline int device_cores()
{
    int device = 0, count = 1;
    if (hipGetDevice(&device) != hipSuccess ||
        hipDeviceGetAttribute(&count, hipDeviceAttributeMultiprocessorCount, device) != hipSuccess)
        return 1;
    return count;
}
