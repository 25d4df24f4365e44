// baseline (flash_v2_naive): one query a thread, online softmax, K and V re-read from global memory by
// every thread. The accumulator is an array indexed at run time, so the compiler puts it into scratch:
// every key costs head_dim loads and stores of memory that was meant to be registers.
#include "attention/layout.h"

namespace
{
constexpr int rows = 32;
constexpr int max_head_dim = 128;

__global__ void flash_v2_naive(f32_tensors t, int head_dim)
{
    const int head = blockIdx.x;
    const int row = blockIdx.y * rows + threadIdx.x;
    const int batch = blockIdx.z;
    if (row >= t.seq)
        return;

    const float *q = t.q + t.query(batch, row, head, head_dim);
    float o[max_head_dim];
    for (int d = 0; d < head_dim; d++)
        o[d] = 0.0f;
    float max = -INFINITY;
    float sum = 0.0f;
    const int keys = t.keys_of(row);
    for (int key = 0; key < keys; key++) {
        const size_t at = t.key(batch, key, head, head_dim);
        float score = 0.0f;
        for (int d = 0; d < head_dim; d++)
            score += q[d] * t.k[at + d];
        score *= t.scale;

        const float new_max = fmaxf(max, score);
        const float keep = expf(max - new_max);
        const float p = expf(score - new_max);
        sum = sum * keep + p;
        for (int d = 0; d < head_dim; d++)
            o[d] = o[d] * keep + p * t.v[at + d];
        max = new_max;
    }
    float *out = t.o + t.query(batch, row, head, head_dim);
    for (int d = 0; d < head_dim; d++)
        out[d] = o[d] / sum;
}

attn_geometry geometry(const attn_shape &s)
{
    return {dim3(s.q_heads, tiles(s.seq, rows), s.batch), dim3(rows), 0, rows};
}

hipError_t launch(const attn_args &args, hipStream_t stream)
{
    const attn_geometry g = geometry(args.shape);
    hipLaunchKernelGGL(flash_v2_naive, g.grid, g.block, 0, stream, f32_tensors(args), args.shape.head_dim);
    return hipGetLastError();
}
} // namespace

attn_variant attn_baseline()
{
    attn_variant v{};
    v.name = "baseline";
    v.attn_impl = "flash_v2_naive";
    v.idea = "one query a thread, K and V from global memory";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.launch = launch;
    return v;
}
