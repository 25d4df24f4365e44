// Copies a tile of rows from global to shared memory (AMD: LDS) asynchronously, while the block computes.
// NVIDIA: cp.async, directly. Elsewhere: begin() loads into registers, finish() stores them.
// Usage: begin(); if `to` may still be in use, a barrier; finish(); a barrier; the tile is complete. No
// thread may access `to` between begin() and finish().
#pragma once

#include "device/device.h"

// ROWS rows of WIDTH floats by THREADS threads; in global memory 16-byte aligned rows, `stride` floats apart.
template <int ROWS, int WIDTH, int THREADS> class tile_copy
{
    static constexpr int row_vectors = WIDTH / 4;
    static constexpr int rows_at_once = THREADS / row_vectors;
    static constexpr int mine = ROWS / rows_at_once; // vectors per thread, all in one column
    static_assert(THREADS % row_vectors == 0 && ROWS % rows_at_once == 0,
                  "every thread copies the same amount");

  public:
    // Rows from `available` on are filled with zeros.
    __device__ __forceinline__ void begin(float *to, const float *from, size_t stride, int available)
    {
        const int row = threadIdx.x / row_vectors;
        const int at = threadIdx.x * 4;
        const float *source = from + row * stride + threadIdx.x % row_vectors * 4;
#pragma unroll
        for (int i = 0; i < mine; i++) {
            const bool there = row + i * rows_at_once < available;
            start(i, to + at + i * THREADS * 4, there ? source + i * rows_at_once * stride : from, there);
        }
    }

    __device__ __forceinline__ void finish(float *to)
    {
#if defined(KS_PLATFORM_NVIDIA)
        (void)to;
        asm volatile("cp.async.wait_all;" ::: "memory");
#else
#pragma unroll
        for (int i = 0; i < mine; i++)
            reinterpret_cast<float4 *>(to)[i * THREADS + threadIdx.x] = held_[i];
#endif
    }

  private:
#if defined(KS_PLATFORM_NVIDIA)
    __device__ __forceinline__ void start(int, float *to, const float *from, bool there)
    {
        const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
        const int bytes = there ? 16 : 0; // cp.async fills the rest with zeros
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes)
                     : "memory");
    }
#else
    __device__ __forceinline__ void start(int i, float *, const float *from, bool there)
    {
        held_[i] = there ? *reinterpret_cast<const float4 *>(from) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }

    float4 held_[mine];
#endif
};
