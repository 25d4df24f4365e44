// baseline (flash_v2_naive): one query per thread, online softmax, blocks of 32 threads; every thread reads
// all of K and V from global memory.
#include "attention/naive_row.h"

namespace
{
constexpr int rows = 32;

__global__ void flash_v2_naive(f32_tensors t, int head_dim)
{
    const int row = blockIdx.y * rows + threadIdx.x;
    if (row < t.seq)
        naive_row(t, blockIdx.z, row, blockIdx.x, head_dim);
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
    v.idea = "one query per thread, K and V from global memory";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.launch = launch;
    return v;
}
