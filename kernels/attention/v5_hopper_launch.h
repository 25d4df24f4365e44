// Host code of v5's Hopper pipeline: TMA descriptors, scratch memory, and the launch.
#pragma once

#include "attention/v5_hopper.h"
#include "attention/v5_launch.h"

namespace v5
{
using tensor_map_encode = decltype(&cuTensorMapEncodeTiled);

// The TMA descriptor of a tensor [batch][seq][heads][dims], accessed in boxes of `rows` rows by 64 dims.
inline bool describe_tensor(CUtensorMap *map, tensor_map_encode encode, const void *data, format type,
                            const attn_shape &s, int heads, int rows)
{
    const cuuint64_t row = sizeof(uint16_t) * s.head_dim;
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(s.head_dim), static_cast<cuuint64_t>(heads),
                                static_cast<cuuint64_t>(s.seq), static_cast<cuuint64_t>(s.batch)};
    const cuuint64_t strides[] = {row, row * heads, row * heads * s.seq};
    const cuuint32_t box[] = {64, 1, static_cast<cuuint32_t>(rows), 1};
    const cuuint32_t steps[] = {1, 1, 1, 1};
    return encode(map,
                  type == format::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                  4, const_cast<void *>(data), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

// The driver's encoder, looked up at run time so that nothing links against libcuda.
inline tensor_map_encode tensor_map_encoder()
{
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault,
                                         &found) != cudaSuccess ||
        found != cudaDriverEntryPointSuccess)
        return nullptr;
    return reinterpret_cast<tensor_map_encode>(entry);
}

constexpr size_t counter_bytes = 256; // at the start of scratch; split-KV's partial results follow

inline unsigned pipeline_blocks(int work_tiles)
{
    const int most = cores();
    return static_cast<unsigned>(work_tiles < most ? work_tiles : most);
}

inline split pipeline_split(const attn_shape &s)
{
    return choose_split(s, cores());
}

inline size_t pipeline_scratch(const attn_shape &s)
{
    return counter_bytes + split_bytes_up_to(s, cores());
}

inline attn_geometry pipeline_geometry(const attn_shape &s)
{
    using narrow = pipeline<format::bf16, 64, true, false>;
    using wide = pipeline<format::bf16, 128, true, false>;
    return {dim3(pipeline_blocks(pipeline_split(s).work_tiles)), dim3(wide::threads),
            s.head_dim == 64 ? narrow::shared_bytes : wide::shared_bytes, wide::consumers * 128};
}

template <class P> hipError_t launch_persistent(const attn_args &args, const problem &p, hipStream_t stream)
{
    using F = typename P::F;
    const attn_shape &s = args.shape;
    const tensor_map_encode encode = tensor_map_encoder();
    tensor_maps maps;
    if (!encode || !describe_tensor(&maps.q, encode, args.q, P::type, s, s.q_heads, F::queries) ||
        !describe_tensor(&maps.k, encode, args.k, P::type, s, s.kv_heads, F::keys) ||
        !describe_tensor(&maps.v, encode, args.v, P::type, s, s.kv_heads, F::keys) ||
        !describe_tensor(&maps.o, encode, args.o, P::type, s, s.q_heads, F::queries))
        return hipErrorInvalidValue;

    const auto kernel = attend_pipelined<P>;
    hipError_t error = hipFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                           hipFuncAttributeMaxDynamicSharedMemorySize, P::shared_bytes);
    if (error != hipSuccess)
        return error;
    const auto counter = static_cast<unsigned *>(args.scratch);
    error = cudaMemsetAsync(counter, 0, sizeof *counter, stream);
    if (error != hipSuccess)
        return error;
    hipLaunchKernelGGL(kernel, dim3(pipeline_blocks(p.part.work_tiles)), dim3(P::threads), P::shared_bytes,
                       stream, p, maps, counter);
    return hipGetLastError();
}

// Heads processed together. Short sequences do little work per byte: a section as large as the L2 cache makes
// all SMs first read new heads at once, from HBM, and then reread them. With fewer work tiles than SMs in a
// section, new heads arrive all the time (docs/kernels/v5.md has the measurements).
inline int pipeline_section(const problem &p, int slots)
{
    const int most_tiles = p.seq <= 1024 ? slots / 2 : p.seq <= 2048 ? slots * 4 : p.heads * p.tiles;
    const int group = p.q_heads / p.kv_heads;
    const int heads = (most_tiles / p.tiles + group - 1) / group * group;
    return heads > 0 && heads < p.section ? heads : p.section;
}

// Ping-pong costs two named barriers per tile. That pays off for short work tiles; in long ones the consumers
// fall out of phase by themselves (docs/kernels/v5.md has the measurements).
constexpr int longest_ping_pong = 20480;

template <format FORMAT, int HEAD_DIM>
hipError_t launch_pipelined(const attn_args &args, const split &by, hipStream_t stream)
{
    problem p = describe(args, by, static_cast<unsigned char *>(args.scratch) + counter_bytes);
    p.section = pipeline_section(p, cores());
    if (by.parts > 1) {
        const hipError_t error = launch_persistent<pipeline<FORMAT, HEAD_DIM, true, true>>(args, p, stream);
        return error != hipSuccess ? error : launch_merge<fragment<FORMAT, HEAD_DIM>>(p, stream);
    }
    return args.shape.seq <= longest_ping_pong
               ? launch_persistent<pipeline<FORMAT, HEAD_DIM, true, false>>(args, p, stream)
               : launch_persistent<pipeline<FORMAT, HEAD_DIM, false, false>>(args, p, stream);
}
} // namespace v5
