// Division by a number that does not change during a launch: the host computes its reciprocal once, and a
// kernel multiplies. The hardware has no integer division; what compilers emit for one takes a hundred
// clocks.
#pragma once

#include "device/device.h"

#include <cstdint>

// Of numbers from 0 to 2^31 - 1 by one from 1 to 2^31 - 1; exact. With 2^s >= d, the multiplier m exceeds
// 2^(31+s) / d by less than one, so n m / 2^(31+s) exceeds n / d by less than 1 / d, and rounds down to the
// same integer.
class divisor
{
  public:
    explicit divisor(int by)
    {
        while ((uint64_t{1} << shift_) >> 31 < static_cast<uint64_t>(by))
            shift_++;
        multiplier_ = static_cast<uint32_t>(((uint64_t{1} << shift_) + by - 1) / by);
    }
    __device__ __forceinline__ int quotient(int n) const
    {
        return static_cast<int>(static_cast<uint64_t>(static_cast<uint32_t>(n)) * multiplier_ >> shift_);
    }

  private:
    uint32_t multiplier_;
    int shift_ = 31; // + s
};
