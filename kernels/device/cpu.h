// HIP on the CPU: every thread of a block is a fiber, every block runs on one core.
// A kernel gets what HIP specifies: threadIdx and the like, static and dynamic shared memory, __syncthreads,
// and shuffles within a wave of KS_CPU_WAVE lanes. It is stricter than a GPU: a barrier that not every thread
// of the block reaches is reported as the launch's error (kernel, block, threads, source line) instead of
// hanging, and dynamic shared memory is initialised with NaN. Device memory is host memory, launches are
// synchronous, and all streams are the same.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#define KS_CPU_WAVE 32
#define KS_CPU_WIDE_WAVE 64

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
// A worker thread runs one block at a time, so its thread-local storage is the block's shared memory.
#define __shared__ static thread_local

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

struct alignas(8) float2 {
    float x, y;
};
inline float2 make_float2(float x, float y)
{
    return {x, y};
}

struct alignas(16) float4 {
    float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

// The indices of the running thread, set by the scheduler before it resumes a fiber.
struct ks_cpu_context {
    dim3 thread_idx, block_idx, block_dim, grid_dim;
    void *dynamic_lds = nullptr;
};
// __thread, not thread_local: being constant-initialised, it needs no initialisation check on every access.
extern __thread ks_cpu_context ks_cpu;

#define threadIdx (ks_cpu.thread_idx)
#define blockIdx (ks_cpu.block_idx)
#define blockDim (ks_cpu.block_dim)
#define gridDim (ks_cpu.grid_dim)
#define HIP_DYNAMIC_SHARED(type, name) type *name = static_cast<type *>(ks_cpu.dynamic_lds);

void ks_cpu_barrier(const char *file, int line);
// Waits for the other threads of an aligned group of KS_CPU_WIDE_WAVE, AMD's wave, at the same line.
void ks_cpu_wide_wave(const char *file, int line);
uint32_t ks_cpu_shuffle(uint32_t value, unsigned source_lane, const char *file, int line);

#define __syncthreads() ks_cpu_barrier(__FILE__, __LINE__)
#define __shfl_xor(value, lane_mask, width) ks_cpu_shfl_xor((value), (lane_mask), (width), __FILE__, __LINE__)

template <typename T> T ks_cpu_shfl_xor(T value, int lane_mask, int width, const char *file, int line)
{
    static_assert(sizeof(T) == 4, "shuffles move 32-bit values");
    const unsigned lane = ks_cpu.thread_idx.x % KS_CPU_WAVE;
    const unsigned other = lane ^ static_cast<unsigned>(lane_mask);
    const unsigned group = static_cast<unsigned>(width);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits = ks_cpu_shuffle(bits, other / group == lane / group ? other : lane, file, line);
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}

inline float rsqrtf(float x)
{
    return 1.0f / std::sqrt(x);
}

// ---- the part of the runtime API in use ----
enum hipError_t {
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorOutOfMemory = 2,
    hipErrorLaunchFailure = 719,
};
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2, hipMemcpyDeviceToDevice = 3 };
enum hipFuncAttribute { hipFuncAttributeMaxDynamicSharedMemorySize = 8 };

enum hipDeviceAttribute_t { hipDeviceAttributeMultiprocessorCount = 63 };

using hipStream_t = struct ks_cpu_stream *;
using hipEvent_t = struct ks_cpu_event *;

struct hipDeviceProp_t {
    char name[256];
    int multiProcessorCount;
    int l2CacheSize;
    size_t sharedMemPerBlock;
};

hipError_t hipMalloc(void **pointer, size_t bytes);
template <typename T> hipError_t hipMalloc(T **pointer, size_t bytes)
{
    return hipMalloc(reinterpret_cast<void **>(pointer), bytes);
}
hipError_t hipFree(void *pointer);
hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t stream);
hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total_bytes);
hipError_t hipGetDevice(int *device);
hipError_t hipGetDeviceCount(int *count);
hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int device);
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceSynchronize();
hipError_t hipGetLastError();
// After a failed launch: the reason, on one line.
const char *hipGetErrorString(hipError_t error);
hipError_t hipEventCreate(hipEvent_t *event);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop);

// Dynamic shared memory per block: gfx942's LDS, so that a kernel that fits here fits there.
#define KS_CPU_LDS_BYTES 65536
inline hipError_t hipFuncSetAttribute(const void *, hipFuncAttribute, int bytes)
{
    return bytes <= KS_CPU_LDS_BYTES ? hipSuccess : hipErrorInvalidValue;
}

void ks_cpu_launch(const char *kernel, dim3 grid, dim3 block, size_t lds_bytes,
                   const std::function<void()> &thread);

// As in a real launch, the arguments are evaluated once and every thread gets its own copies.
template <typename Kernel, typename... Arguments>
void ks_cpu_launch_with(const char *name, dim3 grid, dim3 block, size_t lds_bytes, hipStream_t, Kernel kernel,
                        Arguments... arguments)
{
    ks_cpu_launch(name, grid, block, lds_bytes, [&] { kernel(arguments...); });
}

#define hipLaunchKernelGGL(kernel, grid, block, lds_bytes, stream, ...)                                      \
    ks_cpu_launch_with(#kernel, (grid), (block), (lds_bytes), (stream),                                      \
                       [](auto... arguments) { kernel(arguments...); } __VA_OPT__(, ) __VA_ARGS__)
