// Host code that the forms of v5 share: kernel parameters, and dispatch by format and head size.
#pragma once

#include "attention/v5_split.h"
#include "attention/v5_tiles.h"
#include "device/cores.h"

namespace v5
{
constexpr float log2_e = 1.44269504f;
constexpr size_t cached_bytes = 32u << 20; // of L2 that a section's K and V may occupy

// `scratch`: where the partial results of split-KV go; `queries`: of the form's work tile.
inline problem describe(const attn_args &args, const split &by, void *scratch, int queries = span)
{
    const attn_shape &s = args.shape;
    problem p;
    p.q = static_cast<const uint16_t *>(args.q);
    p.k = static_cast<const uint16_t *>(args.k);
    p.v = static_cast<const uint16_t *>(args.v);
    p.o = static_cast<uint16_t *>(args.o);
    p.seq = s.seq;
    p.q_heads = s.q_heads;
    p.kv_heads = s.kv_heads;
    p.heads = s.batch * s.q_heads;
    p.tiles = static_cast<int>(tiles(s.seq, queries));
    p.causal = s.causal;
    p.scale = args.scale * log2_e;
    const size_t kv_bytes = sizeof(uint16_t) * 2 * s.seq * s.head_dim;
    const size_t fit = cached_bytes / kv_bytes > 1 ? cached_bytes / kv_bytes : 1;
    const size_t section = fit * (s.q_heads / s.kv_heads);
    p.section = section < static_cast<size_t>(p.heads) ? static_cast<int>(section) : p.heads;
    p.part = describe_split(s, by, scratch);
    return p;
}

// Calls f(format, head size) with both as compile-time constants, for shapes that v5 supports.
template <format FORMAT, class LAUNCH> hipError_t choose_head_dim(const attn_args &args, LAUNCH f)
{
    switch (args.shape.head_dim) {
    case 64:
        return f(std::integral_constant<format, FORMAT>(), std::integral_constant<int, 64>());
    case 128:
        return f(std::integral_constant<format, FORMAT>(), std::integral_constant<int, 128>());
    }
    return hipErrorInvalidValue;
}

template <class LAUNCH> hipError_t choose(const attn_args &args, LAUNCH f)
{
    if (!(args.scale > 0.0f)) // the running maximum is of unscaled scores
        return hipErrorInvalidValue;
    switch (args.shape.dtype) {
    case ATTN_F16:
        return choose_head_dim<format::f16>(args, f);
    case ATTN_BF16:
        return choose_head_dim<format::bf16>(args, f);
    case ATTN_F32:
        break;
    }
    return hipErrorInvalidValue;
}

template <class F, bool SPLIT>
hipError_t launch_tile_loop(const problem &p, int work_tiles, hipStream_t stream)
{
    const hipError_t error = hipFuncSetAttribute(reinterpret_cast<const void *>(attend_tiles<F, SPLIT>),
                                                 hipFuncAttributeMaxDynamicSharedMemorySize, F::shared_bytes);
    if (error != hipSuccess)
        return error;
    hipLaunchKernelGGL((attend_tiles<F, SPLIT>), dim3(static_cast<unsigned>(work_tiles)), dim3(F::threads),
                       F::shared_bytes, stream, p);
    return hipGetLastError();
}

template <format FORMAT, int HEAD_DIM>
hipError_t launch_tiles(const attn_args &args, const split &by, hipStream_t stream)
{
    using F = fragment<FORMAT, HEAD_DIM>;
    const problem p = describe(args, by, args.scratch);
    if (by.parts == 1)
        return launch_tile_loop<F, false>(p, by.work_tiles, stream);
    const hipError_t error = launch_tile_loop<F, true>(p, by.work_tiles, stream);
    return error != hipSuccess ? error : launch_merge<F>(p, stream);
}

inline tile_slots tiles_slots()
{
    return {device_cores() * fragment<format::bf16, 128>::blocks_a_core};
}

inline split tiles_split(const attn_shape &s)
{
    return choose_split(s, tiles_slots());
}

inline size_t tiles_scratch(const attn_shape &s)
{
    return split_bytes_up_to(s, tiles_slots());
}

inline attn_geometry tiles_geometry(const attn_shape &s)
{
    using narrow = fragment<format::bf16, 64>;
    using wide = fragment<format::bf16, 128>;
    const size_t lds = s.head_dim == 64 ? narrow::shared_bytes : wide::shared_bytes;
    return {dim3(static_cast<unsigned>(tiles_split(s).work_tiles)), dim3(wide::threads), lds, wide::threads};
}
} // namespace v5
