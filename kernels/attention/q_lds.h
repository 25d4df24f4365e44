// The kernel of v3 and v4, which differ only in SEGMENT: Q, a tile of K and a segment of V are staged in LDS,
// and the output is computed SEGMENT dims at a time, so that the accumulator stays in registers. The cost: K
// is read and all scores are computed head_dim / SEGMENT times. Rows in LDS are not padded, so the 32 threads
// of a block, each reading its own row of Q, conflict on a single bank.
#pragma once

#include "attention/layout.h"
#include "attention/online_softmax.h"
#include "attention/stage.h"

namespace q_lds
{
constexpr int rows = 32; // queries and threads per block
constexpr int keys = 32; // per tile

constexpr size_t lds_bytes(int head_dim, int segment)
{
    return sizeof(float) * (rows * head_dim + keys * head_dim + keys * segment);
}

template <int HEAD_DIM, int SEGMENT>
__device__ void attend_segment(const f32_tensors &t, const float *q_tile, float *k_tile, float *v_tile,
                               int segment)
{
    const int head = blockIdx.x;
    const int first = blockIdx.y * rows;
    const int row = first + threadIdx.x;
    const int batch = blockIdx.z;
    const int limit = row < t.seq ? t.keys_of(row) : 0;
    const int all_keys = t.keys_of_tile(first, rows);
    const size_t stride = static_cast<size_t>(t.kv_heads) * HEAD_DIM;
    const float *q = q_tile + threadIdx.x * HEAD_DIM;

    float o[SEGMENT];
#pragma unroll
    for (int d = 0; d < SEGMENT; d++)
        o[d] = 0.0f;
    online_softmax softmax;
    for (int tile = 0; tile < all_keys; tile += keys) {
        const size_t at = t.key(batch, tile, head, HEAD_DIM);
        stage<HEAD_DIM>(k_tile, t.k + at, stride, keys, t.seq - tile);
        stage<SEGMENT>(v_tile, t.v + at + segment, stride, keys, t.seq - tile);
        __syncthreads();
        const int here = limit - tile < keys ? limit - tile : keys;
        for (int key = 0; key < here; key++) {
            float score = 0.0f;
#pragma unroll 16
            for (int d = 0; d < HEAD_DIM; d++)
                score += q[d] * k_tile[key * HEAD_DIM + d];
            softmax.add(score * t.scale);
#pragma unroll
            for (int d = 0; d < SEGMENT; d++)
                o[d] = o[d] * softmax.keep + softmax.weight * v_tile[key * SEGMENT + d];
        }
        __syncthreads();
    }
    if (row >= t.seq)
        return;
    float *out = t.o + t.query(batch, row, head, HEAD_DIM) + segment;
#pragma unroll
    for (int d = 0; d < SEGMENT; d++)
        out[d] = o[d] / softmax.sum;
}

template <int HEAD_DIM, int SEGMENT> __global__ void attend(f32_tensors t)
{
    HIP_DYNAMIC_SHARED(float, lds)
    float *q_tile = lds;
    float *k_tile = q_tile + rows * HEAD_DIM;
    float *v_tile = k_tile + keys * HEAD_DIM;
    const int first = blockIdx.y * rows;
    const size_t at = t.query(blockIdx.z, first, blockIdx.x, HEAD_DIM);
    stage<HEAD_DIM>(q_tile, t.q + at, static_cast<size_t>(t.q_heads) * HEAD_DIM, rows, t.seq - first);
    for (int segment = 0; segment < HEAD_DIM; segment += SEGMENT)
        attend_segment<HEAD_DIM, SEGMENT>(t, q_tile, k_tile, v_tile, segment);
}

template <int SEGMENT> attn_geometry geometry(const attn_shape &s)
{
    return {dim3(s.q_heads, tiles(s.seq, rows), s.batch), dim3(rows), lds_bytes(s.head_dim, SEGMENT), rows,
            static_cast<unsigned>(s.head_dim / SEGMENT)};
}

template <int SEGMENT> hipError_t launch(const attn_args &args, hipStream_t stream)
{
    const attn_geometry g = geometry<SEGMENT>(args.shape);
    if (args.shape.head_dim == 64)
        hipLaunchKernelGGL((attend<64, SEGMENT>), g.grid, g.block, g.shared_bytes, stream, f32_tensors(args));
    else
        hipLaunchKernelGGL((attend<128, SEGMENT>), g.grid, g.block, g.shared_bytes, stream,
                           f32_tensors(args));
    return hipGetLastError();
}
} // namespace q_lds
