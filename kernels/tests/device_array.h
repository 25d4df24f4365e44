// An array on the device, for tests: copied there when it is made, and back when asked for.
#pragma once

#include "base/device_memory.h"

#include <vector>

template <typename T> class device_array
{
  public:
    explicit device_array(const std::vector<T> &values) : count_(values.size()), memory_(count_ * sizeof(T))
    {
        hip_check(hipMemcpy(get(), values.data(), count_ * sizeof(T), hipMemcpyHostToDevice), "copy");
    }
    T *get() const
    {
        return static_cast<T *>(memory_.get());
    }
    std::vector<T> host() const
    {
        std::vector<T> values(count_);
        hip_check(hipMemcpy(values.data(), get(), count_ * sizeof(T), hipMemcpyDeviceToHost), "copy");
        return values;
    }

  private:
    size_t count_;
    device_memory memory_;
};
