// v1 (lds_tiling_v1): tiles of K and V in LDS, so that a block reads them from memory only once. Q and O are
// per-thread arrays indexed at run time, so both end up in scratch: twice as much as in baseline.
#include "attention/layout.h"
#include "attention/online_softmax.h"
#include "attention/stage.h"

namespace
{
constexpr int rows = 32; // queries and threads per block
constexpr int keys = 32; // per tile
constexpr int max_head_dim = 128;

template <int HEAD_DIM>
__device__ void stage_tiles(const f32_tensors &t, int tile, float *k_tile, float *v_tile)
{
    const size_t at = t.key(blockIdx.z, tile, blockIdx.x, HEAD_DIM);
    const size_t stride = static_cast<size_t>(t.kv_heads) * HEAD_DIM;
    stage<HEAD_DIM>(k_tile, t.k + at, stride, keys, t.seq - tile);
    stage<HEAD_DIM>(v_tile, t.v + at, stride, keys, t.seq - tile);
}

__global__ void lds_tiling(f32_tensors t, int head_dim)
{
    HIP_DYNAMIC_SHARED(float, lds)
    float *k_tile = lds;
    float *v_tile = lds + keys * head_dim;
    const int first = blockIdx.y * rows;
    const int row = first + threadIdx.x;
    const int limit = row < t.seq ? t.keys_of(row) : 0;
    const int all_keys = t.keys_of_tile(first, rows);

    const size_t query = t.query(blockIdx.z, row < t.seq ? row : 0, blockIdx.x, head_dim);
    float q[max_head_dim], o[max_head_dim];
    for (int d = 0; d < head_dim; d++) {
        q[d] = t.q[query + d];
        o[d] = 0.0f;
    }
    online_softmax softmax;
    for (int tile = 0; tile < all_keys; tile += keys) {
        if (head_dim == 64)
            stage_tiles<64>(t, tile, k_tile, v_tile);
        else
            stage_tiles<128>(t, tile, k_tile, v_tile);
        __syncthreads();
        for (int key = 0; key < keys && tile + key < limit; key++) {
            float score = 0.0f;
            for (int d = 0; d < head_dim; d++)
                score += q[d] * k_tile[key * head_dim + d];
            softmax.add(score * t.scale);
            for (int d = 0; d < head_dim; d++)
                o[d] = o[d] * softmax.keep + softmax.weight * v_tile[key * head_dim + d];
        }
        __syncthreads();
    }
    if (row >= t.seq)
        return;
    for (int d = 0; d < head_dim; d++)
        t.o[query + d] = o[d] / softmax.sum;
}

attn_geometry geometry(const attn_shape &s)
{
    const size_t lds_bytes = sizeof(float) * 2 * keys * s.head_dim;
    return {dim3(s.q_heads, tiles(s.seq, rows), s.batch), dim3(rows), lds_bytes, rows};
}

hipError_t launch(const attn_args &args, hipStream_t stream)
{
    const attn_geometry g = geometry(args.shape);
    hipLaunchKernelGGL(lds_tiling, g.grid, g.block, g.shared_bytes, stream, f32_tensors(args),
                       args.shape.head_dim);
    return hipGetLastError();
}
} // namespace

attn_variant attn_v1()
{
    attn_variant v{};
    v.name = "v1";
    v.attn_impl = "lds_tiling_v1";
    v.idea = "tiles of K and V in LDS, Q and O in per-thread arrays";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.launch = launch;
    return v;
}
