// Copies rows of a tensor into LDS, using all threads of a one-dimensional block.
#pragma once

#include "device/device.h"

// `count` rows of WIDTH floats, `stride` apart; rows from `available` on are filled with zeros.
template <int WIDTH>
__device__ void stage(float *lds, const float *global, size_t stride, int count, int available)
{
    for (int i = threadIdx.x; i < count * WIDTH; i += blockDim.x) {
        const int row = i / WIDTH;
        lds[i] = row < available ? global[row * stride + i % WIDTH] : 0.0f;
    }
}
