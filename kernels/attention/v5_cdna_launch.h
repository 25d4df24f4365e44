// Host code of v5's ping-pong form on CDNA: its split, its queues, and the launch.
#pragma once

#include "attention/v5_cdna.h"
#include "attention/v5_launch.h"

namespace v5
{
constexpr int cdna_span = fragment32<format::bf16, 128>::block_queries;
// The queues' counters, at the start of scratch; split-KV's partial results follow.
constexpr size_t queue_bytes = chiplets * counter_stride * sizeof(unsigned);

inline unsigned cdna_blocks(int work_tiles)
{
    const int most = device_cores();
    return static_cast<unsigned>(work_tiles < most ? work_tiles : most);
}

inline split cdna_split(const attn_shape &s)
{
    return choose_split(s, {device_cores(), cdna_span});
}

inline size_t cdna_scratch(const attn_shape &s)
{
    return queue_bytes + split_bytes_up_to(s, {device_cores(), cdna_span});
}

inline attn_geometry cdna_geometry(const attn_shape &s)
{
    using narrow = fragment32<format::bf16, 64>;
    using wide = fragment32<format::bf16, 128>;
    return {dim3(cdna_blocks(cdna_split(s).work_tiles)), dim3(wide::threads),
            s.head_dim == 64 ? ping_pong_bytes<narrow> : ping_pong_bytes<wide>, wide::threads};
}

template <class F, bool SPLIT>
hipError_t launch_ping_pong(const attn_args &args, const problem &p, const split &by, hipStream_t stream)
{
    hipError_t error = hipFuncSetAttribute(reinterpret_cast<const void *>(attend_ping_pong<F, SPLIT>),
                                           hipFuncAttributeMaxDynamicSharedMemorySize, ping_pong_bytes<F>);
    if (error != hipSuccess)
        return error;
    error = hipMemsetAsync(args.scratch, 0, queue_bytes, stream);
    if (error != hipSuccess)
        return error;
    const queues all = describe_queues(args.shape.batch * args.shape.kv_heads, by.work_tiles,
                                       static_cast<unsigned *>(args.scratch));
    hipLaunchKernelGGL((attend_ping_pong<F, SPLIT>), dim3(cdna_blocks(by.work_tiles)), dim3(F::threads),
                       ping_pong_bytes<F>, stream, p, all);
    return hipGetLastError();
}

template <class F> hipError_t launch_cdna_by(const attn_args &args, const split &by, hipStream_t stream)
{
    const problem p =
        describe(args, by, static_cast<unsigned char *>(args.scratch) + queue_bytes, F::block_queries);
    if (by.parts == 1)
        return launch_ping_pong<F, false>(args, p, by, stream);
    const hipError_t error = launch_ping_pong<F, true>(args, p, by, stream);
    return error != hipSuccess ? error : launch_merge<F>(p, stream);
}

template <format FORMAT, int HEAD_DIM>
hipError_t launch_cdna(const attn_args &args, const split &by, hipStream_t stream)
{
    return launch_cdna_by<fragment32<FORMAT, HEAD_DIM>>(args, by, stream);
}
} // namespace v5
