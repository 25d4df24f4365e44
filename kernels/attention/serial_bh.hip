// serial_bh: baseline's arithmetic with the grid bug of the V3 analysis, kept to demonstrate it. The grid
// spans only the sequence and every block loops over batch and heads, so time grows with batch * heads
// although the device could run all of them concurrently.
#include "attention/naive_row.h"

namespace
{
constexpr int rows = 32;

__global__ void flash_serial_bh(f32_tensors t, int batches, int head_dim)
{
    const int row = blockIdx.x * rows + threadIdx.x;
    if (row >= t.seq)
        return;
    for (int batch = 0; batch < batches; batch++) {
        for (int head = 0; head < t.q_heads; head++)
            naive_row(t, batch, row, head, head_dim);
    }
}

attn_geometry geometry(const attn_shape &s)
{
    return {dim3(tiles(s.seq, rows)), dim3(rows), 0, rows};
}

hipError_t launch(const attn_args &args, hipStream_t stream)
{
    const attn_geometry g = geometry(args.shape);
    hipLaunchKernelGGL(flash_serial_bh, g.grid, g.block, 0, stream, f32_tensors(args), args.shape.batch,
                       args.shape.head_dim);
    return hipGetLastError();
}
} // namespace

attn_variant attn_serial_bh()
{
    attn_variant v{};
    v.name = "serial_bh";
    v.attn_impl = "serial_bh";
    v.idea = "baseline with a grid over the sequence only: batch and heads in a loop";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.launch = launch;
    return v;
}
