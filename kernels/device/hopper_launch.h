// Host code for kernels in Hopper's own instructions: TMA descriptors, and launches in clusters or ahead of
// the end of the grid before. Knows nothing of attention.
#pragma once

#include "device/fragment.h"

#include <cuda.h>
#include <cuda_runtime.h>

#include <type_traits>

namespace hopper
{
// Whether the device runs code for sm_90a. A build for plain sm_90 has no wgmma.
inline bool available()
{
#if defined(KS_WGMMA)
    int device = 0, major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
           major == 9;
#else
    return false;
#endif
}

// The driver's encoder, looked up at run time so that nothing links against libcuda.
inline decltype(&cuTensorMapEncodeTiled) tensor_map_encoder()
{
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                         &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
        return nullptr;
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
}

// A dense tensor [batch][rows][heads][dims] of 16-bit numbers.
struct tensor {
    const void *data;
    format type;
    int batch, rows, heads, dims;
};

// The descriptor of a tensor that is accessed in boxes of `rows` rows by 64 dims of a head. False if the
// driver cannot make one: addresses and rows must be multiples of 16 bytes.
inline bool describe(CUtensorMap *map, const tensor &t, int rows)
{
    const auto encode = tensor_map_encoder();
    const auto dims = static_cast<cuuint64_t>(t.dims), heads = static_cast<cuuint64_t>(t.heads);
    const cuuint64_t head_bytes = sizeof(uint16_t) * dims, row_bytes = head_bytes * heads;
    const cuuint64_t sizes[] = {dims, heads, static_cast<cuuint64_t>(t.rows),
                                static_cast<cuuint64_t>(t.batch)};
    const cuuint64_t strides[] = {head_bytes, row_bytes, row_bytes * static_cast<cuuint64_t>(t.rows)};
    const cuuint32_t box[] = {64, 1, static_cast<cuuint32_t>(rows), 1};
    const cuuint32_t steps[] = {1, 1, 1, 1};
    return encode &&
           encode(map,
                  t.type == format::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                  4, const_cast<void *>(t.data), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

struct grid {
    unsigned blocks;
    int threads;
    size_t shared_bytes = 0;
    int cluster = 1; // divides blocks
};

// A grid that may start while the one before it in the stream ends, which hides its start: it calls
// grid_dependency_wait() before it reads or writes global memory.
template <class... PARAMETERS>
cudaError_t launch_dependent(void (*kernel)(PARAMETERS...), const grid &by, cudaStream_t stream,
                             const std::common_type_t<PARAMETERS> &...arguments)
{
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = cudaLaunchAttributeClusterDimension;
    attributes[1].val.clusterDim = {static_cast<unsigned>(by.cluster), 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(by.blocks);
    config.blockDim = dim3(static_cast<unsigned>(by.threads));
    config.dynamicSmemBytes = by.shared_bytes;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = by.cluster > 1 ? 2 : 1;
    if (by.shared_bytes > 0) {
        const cudaError_t error = cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                                       cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                       static_cast<int>(by.shared_bytes));
        if (error != cudaSuccess)
            return error;
    }
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}
} // namespace hopper
