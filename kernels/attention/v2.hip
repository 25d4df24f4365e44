// v2 (segmented_v2): baseline, 8 output dims at a time, so that the accumulator fits in registers. The cost:
// K is read from global memory and all scores are computed head_dim / 8 times.
#include "attention/layout.h"
#include "attention/online_softmax.h"

namespace
{
constexpr int rows = 32;
constexpr int segment_dims = 8;

template <int HEAD_DIM>
__device__ void attend_segment(const f32_tensors &t, size_t query, int batch, int row, int head, int segment)
{
    float o[segment_dims];
#pragma unroll
    for (int d = 0; d < segment_dims; d++)
        o[d] = 0.0f;
    online_softmax softmax;
    const int keys = t.keys_of(row);
    for (int key = 0; key < keys; key++) {
        const size_t at = t.key(batch, key, head, HEAD_DIM);
        float score = 0.0f;
#pragma unroll 16
        for (int d = 0; d < HEAD_DIM; d++)
            score += t.q[query + d] * t.k[at + d];
        softmax.add(score * t.scale);
#pragma unroll
        for (int d = 0; d < segment_dims; d++)
            o[d] = o[d] * softmax.keep + softmax.weight * t.v[at + segment + d];
    }
#pragma unroll
    for (int d = 0; d < segment_dims; d++)
        t.o[query + segment + d] = o[d] / softmax.sum;
}

template <int HEAD_DIM> __global__ void segmented(f32_tensors t)
{
    const int row = blockIdx.y * rows + threadIdx.x;
    if (row >= t.seq)
        return;
    const size_t query = t.query(blockIdx.z, row, blockIdx.x, HEAD_DIM);
    for (int segment = 0; segment < HEAD_DIM; segment += segment_dims)
        attend_segment<HEAD_DIM>(t, query, blockIdx.z, row, blockIdx.x, segment);
}

attn_geometry geometry(const attn_shape &s)
{
    return {dim3(s.q_heads, tiles(s.seq, rows), s.batch), dim3(rows), 0, rows,
            static_cast<unsigned>(s.head_dim / segment_dims)};
}

hipError_t launch(const attn_args &args, hipStream_t stream)
{
    const attn_geometry g = geometry(args.shape);
    if (args.shape.head_dim == 64)
        hipLaunchKernelGGL(segmented<64>, g.grid, g.block, 0, stream, f32_tensors(args));
    else
        hipLaunchKernelGGL(segmented<128>, g.grid, g.block, 0, stream, f32_tensors(args));
    return hipGetLastError();
}
} // namespace

attn_variant attn_v2()
{
    attn_variant v{};
    v.name = "v2";
    v.attn_impl = "segmented_v2";
    v.idea = "output in segments of 8 dims, K and V from global memory";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.launch = launch;
    return v;
}
