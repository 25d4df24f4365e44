// The hip* names that kernels/ uses, on CUDA. Debian's HIP has NVIDIA headers too, but they do not compile
// against CUDA 13. Maps names only; differences in behaviour are not papered over.
#pragma once

#include <cuda_runtime.h>

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipDeviceProp_t = cudaDeviceProp;

#define hipSuccess cudaSuccess
#define hipErrorInvalidValue cudaErrorInvalidValue
#define hipErrorOutOfMemory cudaErrorMemoryAllocation

#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice

#define hipMalloc cudaMalloc
#define hipFree cudaFree
#define hipMemcpy cudaMemcpy
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemGetInfo cudaMemGetInfo
#define hipGetDevice cudaGetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipDeviceGetAttribute cudaDeviceGetAttribute
#define hipDeviceAttributeMultiprocessorCount cudaDevAttrMultiProcessorCount
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipDeviceSynchronize cudaDeviceSynchronize
#define hipGetLastError cudaGetLastError
#define hipGetErrorString cudaGetErrorString
#define hipEventCreate cudaEventCreate
#define hipEventDestroy cudaEventDestroy
#define hipEventRecord cudaEventRecord
#define hipEventSynchronize cudaEventSynchronize
#define hipEventElapsedTime cudaEventElapsedTime
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize

#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...)                                   \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)

// HIP's shuffles take no lane mask: every lane of the warp participates.
template <typename T> __device__ __forceinline__ T __shfl_xor(T value, int lane_mask, int width = 32)
{
    return __shfl_xor_sync(0xffffffffu, value, lane_mask, width);
}
