// baseline_vec (flash_v2_vec): flash_v2_naive as it was meant. Q and O really are in registers: LANES threads
// share a query, each owns 16 of its dims, and a thread serves 4 queries at once, so that one 16-byte load
// of K or V from LDS feeds 16 multiply-adds. Tiles of K and V are fetched while the other one is in use.
//
//   scores  every lane multiplies its 16 dims for LANES keys; a halving exchange between the lanes then
//           leaves each lane with the whole score of one key, so no exponential is computed twice
//   output  the weights go through LDS, 4 queries in one 16-byte load, and each lane adds V to its own dims
//
// Blocks are whole waves on both vendors; the longest causal rows are launched first.
#include "attention/layout.h"
#include "device/pair.h"
#include "device/tile_copy.h"

namespace
{
constexpr int threads = 4 * KS_WAVE;
constexpr int own_dims = 16;         // of a query, in a thread
constexpr int chunks = own_dims / 4; // in vectors of 4
constexpr int queries = 4;           // that a thread serves
constexpr float log2_e = 1.4426950408889634f;

template <int HEAD_DIM> struct tiling {
    static constexpr int lanes = HEAD_DIM / own_dims;
    static constexpr int rows = threads / lanes * queries;
    static constexpr int keys = KS_WAVE == 64 ? 16 : 4 * lanes; // a tile
    static constexpr int rounds = keys / lanes;                 // of one key a lane
    // Weights of a group of lanes: [key][query], and 4 floats so that two groups never meet in a bank.
    static constexpr int group_weights = keys * queries + 4;
    static constexpr int lds_floats = 2 * keys * HEAD_DIM + threads / lanes * group_weights;
};

// The thread's part of K, or V, of one key: vectors `lane`, `lane + LANES`, ...: neighbours read neighbours.
template <int LANES> __device__ __forceinline__ int own_vector(int lane, int chunk)
{
    return (chunk * LANES + lane) * 4;
}

// What a group of lanes knows of its queries.
template <int HEAD_DIM> struct query_group {
    static constexpr int lanes = tiling<HEAD_DIM>::lanes;
    static constexpr int rounds = tiling<HEAD_DIM>::rounds;

    int lane;
    ks_quad q[queries][chunks]; // scaled, so that a score is a power of two
    ks_quad o[queries][chunks];
    float max[queries];
    float sum[queries]; // of this lane's keys

    __device__ __forceinline__ void load(const f32_tensors &t, int batch, int first, int head)
    {
#pragma unroll
        for (int r = 0; r < queries; r++) {
            const int row = first + r < t.seq ? first + r : t.seq - 1;
            const float *from = t.q + t.query(batch, row, head, HEAD_DIM);
            max[r] = -INFINITY;
            sum[r] = 0.0f;
#pragma unroll
            for (int c = 0; c < chunks; c++) {
                q[r][c] = scaled(load_quad(from + own_vector<lanes>(lane, c)), t.scale * log2_e);
                o[r][c] = {make_pair(0.0f, 0.0f), make_pair(0.0f, 0.0f)};
            }
        }
    }

    // Scores of COUNT keys from `k` on. The lanes end up with one key each: `lane % COUNT`.
    template <int COUNT>
    __device__ __forceinline__ void scores(const float *k, float (&result)[queries]) const
    {
        if constexpr (COUNT == 1) {
            ks_pair partial[queries];
#pragma unroll
            for (int r = 0; r < queries; r++)
                partial[r] = make_pair(0.0f, 0.0f);
#pragma unroll
            for (int c = 0; c < chunks; c++) {
                const ks_quad x = load_quad(k + own_vector<lanes>(lane, c));
#pragma unroll
                for (int r = 0; r < queries; r++)
                    partial[r] =
                        multiply_add(q[r][c].high, x.high, multiply_add(q[r][c].low, x.low, partial[r]));
            }
#pragma unroll
            for (int r = 0; r < queries; r++)
                result[r] = partial[r].x + partial[r].y;
        } else {
            float low[queries], high[queries];
            scores<COUNT / 2>(k, low);
            scores<COUNT / 2>(k + COUNT / 2 * HEAD_DIM, high);
            const bool takes_high = lane & COUNT / 2;
#pragma unroll
            for (int r = 0; r < queries; r++) {
                const float given = takes_high ? low[r] : high[r];
                const float kept = takes_high ? high[r] : low[r];
                result[r] = kept + __shfl_xor(given, COUNT / 2, lanes);
            }
        }
    }

    // Turns a tile's scores into weights, and scales what was added so far to the new maximum.
    __device__ __forceinline__ void softmax(float (&score)[rounds][queries])
    {
#pragma unroll
        for (int r = 0; r < queries; r++) {
            float top = score[0][r];
#pragma unroll
            for (int round = 1; round < rounds; round++)
                top = fmaxf(top, score[round][r]);
#pragma unroll
            for (int mask = 1; mask < lanes; mask *= 2)
                top = fmaxf(top, __shfl_xor(top, mask, lanes));
            const float new_max = fmaxf(max[r], top);
            const float keep = exp2f(max[r] - new_max);
            max[r] = new_max;
            sum[r] *= keep;
#pragma unroll
            for (int round = 0; round < rounds; round++) {
                score[round][r] = exp2f(score[round][r] - new_max);
                sum[r] += score[round][r];
            }
#pragma unroll
            for (int c = 0; c < chunks; c++)
                o[r][c] = scaled(o[r][c], keep);
        }
    }

    __device__ __forceinline__ void add_values(const float *weights, const float *v)
    {
#pragma unroll 8
        for (int key = 0; key < tiling<HEAD_DIM>::keys; key++) {
            const ks_quad four = load_quad(weights + key * queries);
            const float weight[queries] = {four.low.x, four.low.y, four.high.x, four.high.y};
#pragma unroll
            for (int c = 0; c < chunks; c++) {
                const ks_quad x = load_quad(v + key * HEAD_DIM + own_vector<lanes>(lane, c));
#pragma unroll
                for (int r = 0; r < queries; r++) {
                    const ks_pair w = make_pair(weight[r], weight[r]);
                    o[r][c] = multiply_add({w, w}, x, o[r][c]);
                }
            }
        }
    }

    __device__ __forceinline__ void store(const f32_tensors &t, int batch, int first, int head)
    {
#pragma unroll
        for (int r = 0; r < queries; r++) {
#pragma unroll
            for (int mask = 1; mask < lanes; mask *= 2)
                sum[r] += __shfl_xor(sum[r], mask, lanes);
            const float scale = 1.0f / sum[r];
            if (first + r >= t.seq)
                continue;
            float *to = t.o + t.query(batch, first + r, head, HEAD_DIM);
#pragma unroll
            for (int c = 0; c < chunks; c++)
                store_quad(to + own_vector<lanes>(lane, c), scaled(o[r][c], scale));
        }
    }
};

template <int HEAD_DIM> __global__ void __launch_bounds__(threads, 2) flash_v2_vec(f32_tensors t)
{
    using tile = tiling<HEAD_DIM>;
    HIP_DYNAMIC_SHARED(float4, lds)
    float *k_tile = reinterpret_cast<float *>(lds);
    float *v_tile = k_tile + tile::keys * HEAD_DIM;
    const int head = blockIdx.y;
    const int batch = blockIdx.z;
    const int group = threadIdx.x / tile::lanes;
    const int block_first = (gridDim.x - 1 - blockIdx.x) * tile::rows;
    const int first = block_first + group * queries;
    float *weights = v_tile + tile::keys * HEAD_DIM + group * tile::group_weights;

    query_group<HEAD_DIM> mine;
    mine.lane = threadIdx.x % tile::lanes;
    mine.load(t, batch, first, head);

    const int all_keys = t.keys_of_tile(block_first, tile::rows);
    const size_t stride = static_cast<size_t>(t.kv_heads) * HEAD_DIM;
    const float *k = t.k + t.key(batch, 0, head, HEAD_DIM);
    const float *v = t.v + t.key(batch, 0, head, HEAD_DIM);
    tile_copy<tile::keys, HEAD_DIM, threads> k_copy, v_copy;
    k_copy.begin(k_tile, k, stride, t.seq);
    for (int begin = 0; begin < all_keys; begin += tile::keys) {
        k_copy.finish(k_tile);
        __syncthreads(); // K is there, and nobody reads V or the weights any more
        v_copy.begin(v_tile, v + begin * stride, stride, t.seq - begin);
        float score[tile::rounds][queries];
#pragma unroll
        for (int round = 0; round < tile::rounds; round++) {
            const int key = round * tile::lanes;
            mine.template scores<tile::lanes>(k_tile + key * HEAD_DIM, score[round]);
#pragma unroll
            for (int r = 0; r < queries; r++) {
                const int limit = t.causal && first + r < t.seq ? first + r + 1 : t.seq;
                if (begin + key + mine.lane >= limit)
                    score[round][r] = -INFINITY;
            }
        }
        mine.softmax(score);
#pragma unroll
        for (int round = 0; round < tile::rounds; round++)
            store_quad(
                weights + (round * tile::lanes + mine.lane) * queries,
                {make_pair(score[round][0], score[round][1]), make_pair(score[round][2], score[round][3])});
        v_copy.finish(v_tile);
        __syncthreads(); // V and the weights are there, and nobody reads K any more
        if (begin + tile::keys < all_keys)
            k_copy.begin(k_tile, k + (begin + tile::keys) * stride, stride, t.seq - begin - tile::keys);
        mine.add_values(weights, v_tile);
    }
    mine.store(t, batch, first, head);
}

template <int HEAD_DIM> attn_geometry geometry_dim(const attn_shape &s)
{
    return {dim3(tiles(s.seq, tiling<HEAD_DIM>::rows), s.q_heads, s.batch), dim3(threads),
            sizeof(float) * tiling<HEAD_DIM>::lds_floats, threads};
}

attn_geometry geometry(const attn_shape &s)
{
    return s.head_dim == 64 ? geometry_dim<64>(s) : geometry_dim<128>(s);
}

hipError_t launch(const attn_args &args, hipStream_t stream)
{
    const attn_geometry g = geometry(args.shape);
    if (args.shape.head_dim == 64)
        hipLaunchKernelGGL(flash_v2_vec<64>, g.grid, g.block, g.lds_bytes, stream, f32_tensors(args));
    else
        hipLaunchKernelGGL(flash_v2_vec<128>, g.grid, g.block, g.lds_bytes, stream, f32_tensors(args));
    return hipGetLastError();
}
} // namespace

attn_variant attn_baseline_vec()
{
    attn_variant v{};
    v.name = "baseline_vec";
    v.attn_impl = "flash_v2_vec";
    v.idea = "Q and O in registers, 4 queries a thread, vector loads, K and V prefetched into LDS";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.launch = launch;
    return v;
}
