// Turns an error returned by the HIP API into a failure with a message.
#pragma once

#include "base/failure.h"
#include "device/device.h"

#include <string>

inline void hip_check(hipError_t error, const std::string &doing)
{
    if (error == hipSuccess)
        return;
    const exit_code code = error == hipErrorOutOfMemory ? EXIT_BAD_INPUT : EXIT_FAILED;
    throw failure{code, doing + ": " + hipGetErrorString(error)};
}
