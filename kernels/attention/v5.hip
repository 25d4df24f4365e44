// v5 (v5_mma): attention on the matrix cores; 16-bit inputs, fp32 sums. See docs/kernels/v5.md.
// This file chooses the form for a shape: the tile loop of v5_tiles.h, or Hopper's pipeline.
#include "attention/layout.h"
#include "attention/v5_tiles.h"

namespace
{
constexpr float log2_e = 1.44269504f;
constexpr size_t cached_bytes = 32u << 20; // of K and V that a section of heads may fill of the L2 cache

v5::problem describe(const attn_args &args, int block_queries)
{
    const attn_shape &s = args.shape;
    v5::problem p;
    p.q = static_cast<const uint16_t *>(args.q);
    p.k = static_cast<const uint16_t *>(args.k);
    p.v = static_cast<const uint16_t *>(args.v);
    p.o = static_cast<uint16_t *>(args.o);
    p.seq = s.seq;
    p.q_heads = s.q_heads;
    p.kv_heads = s.kv_heads;
    p.heads = s.batch * s.q_heads;
    p.tiles = static_cast<int>(tiles(s.seq, block_queries));
    p.causal = s.causal;
    p.scale = args.scale * log2_e;
    const size_t kv_bytes = sizeof(uint16_t) * 2 * s.seq * s.head_dim;
    const size_t fit = cached_bytes / kv_bytes > 1 ? cached_bytes / kv_bytes : 1;
    p.section = static_cast<int>(fit) * (s.q_heads / s.kv_heads);
    if (p.section > p.heads)
        p.section = p.heads;
    return p;
}

template <format FORMAT, int HEAD_DIM> hipError_t launch_tiles(const attn_args &args, hipStream_t stream)
{
    using F = fragment<FORMAT, HEAD_DIM>;
    const auto kernel = v5::attend_tiles<FORMAT, HEAD_DIM>;
    const hipError_t error = hipFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                                 hipFuncAttributeMaxDynamicSharedMemorySize, F::lds_bytes);
    if (error != hipSuccess)
        return error;
    const v5::problem p = describe(args, F::block_queries);
    hipLaunchKernelGGL(kernel, dim3(p.heads * p.tiles), dim3(F::threads), F::lds_bytes, stream, p);
    return hipGetLastError();
}

template <format FORMAT> hipError_t launch_format(const attn_args &args, hipStream_t stream)
{
    switch (args.shape.head_dim) {
    case 64:
        return launch_tiles<FORMAT, 64>(args, stream);
    case 128:
        return launch_tiles<FORMAT, 128>(args, stream);
    }
    return hipErrorInvalidValue;
}

hipError_t launch(const attn_args &args, hipStream_t stream)
{
    if (!(args.scale > 0.0f)) // the running maximum is of unscaled scores
        return hipErrorInvalidValue;
    switch (args.shape.dtype) {
    case ATTN_F16:
        return launch_format<format::f16>(args, stream);
    case ATTN_BF16:
        return launch_format<format::bf16>(args, stream);
    case ATTN_F32:
        break;
    }
    return hipErrorInvalidValue;
}

attn_geometry geometry(const attn_shape &s)
{
    using narrow = fragment<format::bf16, 64>;
    using wide = fragment<format::bf16, 128>;
    const size_t lds = s.head_dim == 64 ? narrow::lds_bytes : wide::lds_bytes;
    return {dim3(tiles(s.seq, wide::block_queries) * s.q_heads * s.batch), dim3(wide::threads), lds,
            wide::threads};
}
} // namespace

extern const attn_variant attn_v5 = {
    "v5",
    "v5_mma",
    "matrix cores: 16-bit inputs, fp32 sums, K and V tiles double buffered",
    1u << ATTN_F16 | 1u << ATTN_BF16,
    true,
    geometry,
    nullptr,
    launch,
};
