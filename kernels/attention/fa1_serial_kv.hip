// fa1_serial_kv: the kernel of the FlashAttention-1 study. A block of 256 threads takes 64 queries and loops
// over the tiles of K and V; all threads load, but only 64 of them, one per query, compute.
#include "attention/query_row.h"
#include "attention/stage.h"

namespace
{
constexpr int threads = 256;
constexpr int rows = 64;
constexpr int keys = 32;

constexpr size_t lds_bytes(int head_dim)
{
    return sizeof(float) * head_dim * (rows + 2 * keys);
}

template <int HEAD_DIM> __global__ void __launch_bounds__(threads) serial_kv(f32_tensors t)
{
    HIP_DYNAMIC_SHARED(float, lds)
    float *q_tile = lds;
    float *k_tile = q_tile + rows * HEAD_DIM;
    float *v_tile = k_tile + keys * HEAD_DIM;
    const int head = blockIdx.x;
    const int batch = blockIdx.y;
    const int first = blockIdx.z * rows;
    const int row = first + threadIdx.x;
    const bool has_query = threadIdx.x < rows && row < t.seq;
    const int limit = has_query ? t.keys_of(row) : 0;
    const int all_keys = t.keys_of_tile(first, rows);
    const size_t stride = static_cast<size_t>(t.kv_heads) * HEAD_DIM;

    stage_transposed<HEAD_DIM, rows>(q_tile, t, batch, first, head);
    query_row<HEAD_DIM, rows> query;
    for (int tile = 0; tile < all_keys; tile += keys) {
        const size_t at = t.key(batch, tile, head, HEAD_DIM);
        stage<HEAD_DIM>(k_tile, t.k + at, stride, keys, t.seq - tile);
        stage<HEAD_DIM>(v_tile, t.v + at, stride, keys, t.seq - tile);
        __syncthreads();
        const int count = limit - tile < keys ? limit - tile : keys;
        query.attend(q_tile + threadIdx.x, k_tile, v_tile, count, t.scale);
        __syncthreads();
    }
    if (!has_query)
        return;
    float *out = t.o + t.query(batch, row, head, HEAD_DIM);
#pragma unroll
    for (int d = 0; d < HEAD_DIM; d++)
        out[d] = query.o[d] / query.softmax.sum;
}

attn_geometry geometry(const attn_shape &s)
{
    return {dim3(s.q_heads, s.batch, tiles(s.seq, rows)), dim3(threads), lds_bytes(s.head_dim), rows};
}

template <int HEAD_DIM> hipError_t launch_dim(const attn_args &args, hipStream_t stream)
{
    const attn_geometry g = geometry(args.shape);
    const hipError_t error =
        hipFuncSetAttribute(reinterpret_cast<const void *>(&serial_kv<HEAD_DIM>),
                            hipFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(g.shared_bytes));
    if (error != hipSuccess)
        return error;
    hipLaunchKernelGGL(serial_kv<HEAD_DIM>, g.grid, g.block, g.shared_bytes, stream, f32_tensors(args));
    return hipGetLastError();
}

hipError_t launch(const attn_args &args, hipStream_t stream)
{
    return args.shape.head_dim == 64 ? launch_dim<64>(args, stream) : launch_dim<128>(args, stream);
}
} // namespace

attn_variant attn_fa1_serial_kv()
{
    attn_variant v{};
    v.name = "fa1_serial_kv";
    v.attn_impl = "fa1_serial_kv";
    v.idea = "64 queries per block of 256 threads, tiles of K and V in a serial loop";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.launch = launch;
    return v;
}
