// fa2_split_kv: split-KV, the FlashAttention-2 study's answer to the serial loop. Every block takes 64
// queries and one range of keys and writes its maximum, its sum and its unnormalised output; a second kernel
// combines a query's ranges in order. No atomics, so the result does not depend on timing. A range has at
// least 64 keys and there are at most max_ranges of them, which bounds the scratch memory.
#include "attention/query_row.h"
#include "attention/stage.h"

namespace
{
constexpr int rows = 64; // queries and threads per block
constexpr int keys = 32; // per tile
constexpr int max_ranges = 8;
constexpr int reduce_rows = 4; // queries per block of the second kernel; one thread per dim

struct partials {
    float *o;     // [range][batch][row][head][dim]
    float2 *sums; // [range][batch][row][head]: maximum and sum
    int range_keys;
    size_t queries; // batch * rows * heads
};

int range_keys(const attn_shape &s)
{
    const int wanted = (s.seq + max_ranges - 1) / max_ranges;
    return (wanted + rows - 1) / rows * rows;
}

size_t ranges(const attn_shape &s)
{
    return tiles(s.seq, range_keys(s));
}

size_t queries(const attn_shape &s)
{
    return static_cast<size_t>(s.batch) * s.seq * s.q_heads;
}

size_t scratch_bytes(const attn_shape &s)
{
    // A shorter sequence may have more ranges, but never more than tiles of queries.
    const size_t most = tiles(s.seq, rows) < max_ranges ? tiles(s.seq, rows) : max_ranges;
    return most * queries(s) * (sizeof(float) * s.head_dim + sizeof(float2));
}

constexpr size_t lds_bytes(int head_dim)
{
    return sizeof(float) * head_dim * (rows + 2 * keys);
}

template <int HEAD_DIM>
__global__ void __launch_bounds__(rows) attend_range(f32_tensors t, partials part, int batches)
{
    HIP_DYNAMIC_SHARED(float, lds)
    float *q_tile = lds;
    float *k_tile = q_tile + rows * HEAD_DIM;
    float *v_tile = k_tile + keys * HEAD_DIM;
    const int head = blockIdx.x;
    const int first = blockIdx.y * rows;
    const int row = first + threadIdx.x;
    const int batch = blockIdx.z % batches;
    const int range = blockIdx.z / batches;
    const int begin = range * part.range_keys;
    const int all_keys = t.keys_of_tile(first, rows);
    const int end = all_keys < begin + part.range_keys ? all_keys : begin + part.range_keys;
    if (begin >= end) // uniform over the block: the causal mask hides the whole range
        return;
    const int limit = row < t.seq ? t.keys_of(row) : 0;
    const size_t stride = static_cast<size_t>(t.kv_heads) * HEAD_DIM;

    stage_transposed<HEAD_DIM, rows>(q_tile, t, batch, first, head);
    query_row<HEAD_DIM, rows> query;
    for (int tile = begin; tile < end; tile += keys) {
        const size_t at = t.key(batch, tile, head, HEAD_DIM);
        stage<HEAD_DIM>(k_tile, t.k + at, stride, keys, t.seq - tile);
        stage<HEAD_DIM>(v_tile, t.v + at, stride, keys, t.seq - tile);
        __syncthreads();
        const int count = limit - tile < keys ? limit - tile : keys;
        query.attend(q_tile + threadIdx.x, k_tile, v_tile, count, t.scale);
        __syncthreads();
    }
    if (row >= t.seq)
        return;
    const size_t at = range * part.queries + t.query(batch, row, head, 1);
    part.sums[at] = make_float2(query.softmax.max, query.softmax.sum);
#pragma unroll
    for (int d = 0; d < HEAD_DIM; d++)
        part.o[at * HEAD_DIM + d] = query.o[d];
}

template <int HEAD_DIM> __global__ void combine_ranges(f32_tensors t, partials part)
{
    const int d = threadIdx.x;
    const int row = blockIdx.y * reduce_rows + threadIdx.y;
    if (row >= t.seq)
        return;
    const size_t query = t.query(blockIdx.z, row, blockIdx.x, 1);
    const int count = (t.keys_of(row) + part.range_keys - 1) / part.range_keys;
    float max = -INFINITY;
    for (int range = 0; range < count; range++)
        max = fmaxf(max, part.sums[range * part.queries + query].x);
    float sum = 0.0f;
    float o = 0.0f;
    for (int range = 0; range < count; range++) {
        const size_t at = range * part.queries + query;
        const float weight = expf(part.sums[at].x - max);
        sum += weight * part.sums[at].y;
        o += weight * part.o[at * HEAD_DIM + d];
    }
    t.o[query * HEAD_DIM + d] = o / sum;
}

attn_geometry geometry(const attn_shape &s)
{
    const auto depth = static_cast<unsigned>(s.batch * ranges(s));
    return {dim3(s.q_heads, tiles(s.seq, rows), depth), dim3(rows), lds_bytes(s.head_dim), rows};
}

template <int HEAD_DIM> hipError_t launch_dim(const attn_args &args, hipStream_t stream)
{
    const attn_shape &s = args.shape;
    const attn_geometry g = geometry(s);
    auto *sums = static_cast<float2 *>(args.scratch);
    const partials part{reinterpret_cast<float *>(sums + ranges(s) * queries(s)), sums, range_keys(s),
                        queries(s)};
    const hipError_t error =
        hipFuncSetAttribute(reinterpret_cast<const void *>(&attend_range<HEAD_DIM>),
                            hipFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(g.shared_bytes));
    if (error != hipSuccess)
        return error;
    hipLaunchKernelGGL(attend_range<HEAD_DIM>, g.grid, g.block, g.shared_bytes, stream, f32_tensors(args),
                       part, s.batch);
    hipLaunchKernelGGL(combine_ranges<HEAD_DIM>, dim3(s.q_heads, tiles(s.seq, reduce_rows), s.batch),
                       dim3(HEAD_DIM, reduce_rows), 0, stream, f32_tensors(args), part);
    return hipGetLastError();
}

hipError_t launch(const attn_args &args, hipStream_t stream)
{
    return args.shape.head_dim == 64 ? launch_dim<64>(args, stream) : launch_dim<128>(args, stream);
}
} // namespace

attn_variant attn_fa2_split_kv()
{
    attn_variant v{};
    v.name = "fa2_split_kv";
    v.attn_impl = "fa2_split_kv";
    v.idea = "keys split over blocks, partial results combined in a second pass";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.scratch_bytes = scratch_bytes;
    v.launch = launch;
    return v;
}
