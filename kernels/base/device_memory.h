// Memory on the device, freed with its owner. Throws struct failure when there is too little.
#pragma once

#include "base/hip_check.h"

#include <cstddef>
#include <string>
#include <utility>

class device_memory
{
  public:
    explicit device_memory(size_t bytes)
    {
        hip_check(hipMalloc(&pointer_, bytes ? bytes : 1),
                  "cannot allocate " + std::to_string(bytes) + " bytes on the device");
    }
    ~device_memory()
    {
        (void)hipFree(pointer_);
    }
    device_memory(device_memory &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr))
    {
    }
    device_memory(const device_memory &) = delete;
    device_memory &operator=(const device_memory &) = delete;

    void *get() const
    {
        return pointer_;
    }

  private:
    void *pointer_ = nullptr;
};
