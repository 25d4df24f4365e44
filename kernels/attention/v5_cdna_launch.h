// Host code of v5's ping-pong form on CDNA.
#pragma once

#include "attention/v5_cdna.h"
#include "attention/v5_launch.h"

namespace v5
{
constexpr int cdna_span = fragment32<format::bf16, 128>::block_queries;

inline split cdna_split(const attn_shape &s)
{
    return choose_split(s, cores(), cdna_span);
}

inline size_t cdna_scratch(const attn_shape &s)
{
    return split_bytes_up_to(s, cores(), cdna_span);
}

inline attn_geometry cdna_geometry(const attn_shape &s)
{
    using narrow = fragment32<format::bf16, 64>;
    using wide = fragment32<format::bf16, 128>;
    return {dim3(static_cast<unsigned>(cdna_split(s).work_tiles)), dim3(wide::threads),
            s.head_dim == 64 ? narrow::shared_bytes : wide::shared_bytes, wide::threads};
}

template <class F, bool SPLIT> hipError_t launch_ping_pong(const problem &p, int work_tiles, hipStream_t stream)
{
    const hipError_t error = hipFuncSetAttribute(reinterpret_cast<const void *>(attend_ping_pong<F, SPLIT>),
                                                 hipFuncAttributeMaxDynamicSharedMemorySize, F::shared_bytes);
    if (error != hipSuccess)
        return error;
    hipLaunchKernelGGL((attend_ping_pong<F, SPLIT>), dim3(static_cast<unsigned>(work_tiles)), dim3(F::threads),
                       F::shared_bytes, stream, p);
    return hipGetLastError();
}

template <format FORMAT, int HEAD_DIM>
hipError_t launch_cdna(const attn_args &args, const split &by, hipStream_t stream)
{
    using F = fragment32<FORMAT, HEAD_DIM>;
    const problem p = describe(args, by, args.scratch, F::block_queries);
    if (by.parts == 1)
        return launch_ping_pong<F, false>(p, by.work_tiles, stream);
    const hipError_t error = launch_ping_pong<F, true>(p, by.work_tiles, stream);
    return error != hipSuccess ? error : launch_merge<F>(p, stream);
}
} // namespace v5
