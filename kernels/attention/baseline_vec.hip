// baseline_vec (flash_v2_vec): what flash_v2_naive was meant to be. Q and O are in registers: LANES threads
// share a query, each owns 16 of its dims, and a thread serves 4 queries at once, so that one 16-byte load of
// K or V from LDS feeds 16 multiply-adds. A tile of K is fetched while V is in use, and vice versa.
//
//   scores  every lane multiplies its 16 dims for LANES keys, starting with the one it will own; a recursive
//           halving exchange then leaves each lane with the complete score of its key: no exponential twice
//   output  the weights go through LDS, 4 queries per 16-byte load; each lane accumulates V in its own dims
//
// Blocks consist of full waves (warps) on both vendors; blocks with the longest causal rows are launched
// first.
#include "attention/layout.h"
#include "device/pair.h"
#include "device/tile_copy.h"

namespace
{
constexpr int threads = 4 * KS_WAVE;
constexpr int own_dims = 16;         // of a query, per thread
constexpr int chunks = own_dims / 4; // vectors of 4
constexpr int queries = 4;           // per thread
constexpr float log2_e = 1.4426950408889634f;

template <int HEAD_DIM> struct tiling {
    static constexpr int lanes = HEAD_DIM / own_dims;
    static constexpr int rows = threads / lanes * queries;
    static constexpr int keys = KS_WAVE == 64 ? 16 : 4 * lanes; // per tile
    static constexpr int rounds = keys / lanes;                 // of one key per lane
    // Weights of a group of lanes: [key][query], padded by 4 floats so that two groups never conflict on a
    // bank.
    static constexpr int group_weights = keys * queries + 4;
    static constexpr int lds_floats = 2 * keys * HEAD_DIM + threads / lanes * group_weights;
};

// A thread's part of one row of K or V: vectors `lane`, `lane + LANES`, ..., so that loads are contiguous.
template <int LANES> __device__ __forceinline__ int own_vector(int lane, int chunk)
{
    return (chunk * LANES + lane) * 4;
}

// The state of a group of lanes: its queries, their output and their softmax.
template <int HEAD_DIM> struct query_group {
    static constexpr int lanes = tiling<HEAD_DIM>::lanes;
    static constexpr int rounds = tiling<HEAD_DIM>::rounds;

    int lane;
    ks_quad q[queries][chunks]; // scaled, so that scores are base-2 exponents
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

    // Scores of the keys `lane ^ first` to `lane ^ (first + COUNT - 1)`, summed over COUNT lanes. Because
    // keys are visited in the order `lane ^ i`, partner lanes hold the values they exchange in the same
    // register, so that no select is needed.
    template <int COUNT>
    __device__ __forceinline__ void scores(const float *k, int first, float (&result)[queries]) const
    {
        if constexpr (COUNT == 1) {
            const float *row = k + ((lane * HEAD_DIM) ^ (first * HEAD_DIM));
            ks_dot dots[queries];
#pragma unroll
            for (int c = 0; c < chunks; c++) {
                const ks_quad x = load_quad(row + own_vector<lanes>(lane, c));
#pragma unroll
                for (int r = 0; r < queries; r++)
                    dots[r].add(q[r][c], x);
            }
#pragma unroll
            for (int r = 0; r < queries; r++)
                result[r] = dots[r].total();
        } else {
            float low[queries], high[queries];
            scores<COUNT / 2>(k, first, low);
            scores<COUNT / 2>(k, first + COUNT / 2, high);
#pragma unroll
            for (int r = 0; r < queries; r++)
                result[r] = low[r] + __shfl_xor(high[r], COUNT / 2, lanes);
        }
    }

    // Masks the keys that a query does not see; most tiles have none.
    __device__ __forceinline__ void mask(const f32_tensors &t, int begin, int first,
                                         float (&score)[rounds][queries]) const
    {
        const int all_see = t.causal && first + 1 < t.seq ? first + 1 : t.seq;
        if (begin + tiling<HEAD_DIM>::keys <= all_see)
            return;
#pragma unroll
        for (int r = 0; r < queries; r++) {
            const int limit = t.causal && first + r < t.seq ? first + r + 1 : t.seq;
#pragma unroll
            for (int round = 0; round < rounds; round++) {
                if (begin + round * lanes + lane >= limit)
                    score[round][r] = -INFINITY;
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

    __device__ __forceinline__ void put_weights(float *weights, const float (&weight)[rounds][queries]) const
    {
#pragma unroll
        for (int round = 0; round < rounds; round++) {
#pragma unroll
            for (int r = 0; r < queries; r += 4)
                store_quad(weights + (round * lanes + lane) * queries + r,
                           {make_pair(weight[round][r], weight[round][r + 1]),
                            make_pair(weight[round][r + 2], weight[round][r + 3])});
        }
    }

    __device__ __forceinline__ void add_values(const float *weights, const float *v)
    {
#pragma unroll 8
        for (int key = 0; key < tiling<HEAD_DIM>::keys; key++) {
            float weight[queries];
#pragma unroll
            for (int r = 0; r < queries; r += 4) {
                const ks_quad four = load_quad(weights + key * queries + r);
                weight[r] = four.low.x;
                weight[r + 1] = four.low.y;
                weight[r + 2] = four.high.x;
                weight[r + 3] = four.high.y;
            }
#pragma unroll
            for (int c = 0; c < chunks; c++) {
                const ks_quad x = load_quad(v + key * HEAD_DIM + own_vector<lanes>(lane, c));
#pragma unroll
                for (int r = 0; r < queries; r++)
                    o[r][c] = multiply_add(x, weight[r], o[r][c]);
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
    const int head = blockIdx.x;
    const int batch = blockIdx.z;
    const int group = threadIdx.x / tile::lanes;
    const int block_first = (gridDim.y - 1 - blockIdx.y) * tile::rows;
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
        __syncthreads(); // K is complete, and no thread reads V or the weights any more
        v_copy.begin(v_tile, v + begin * stride, stride, t.seq - begin);
        float score[tile::rounds][queries];
#pragma unroll
        for (int round = 0; round < tile::rounds; round++)
            mine.template scores<tile::lanes>(k_tile + round * tile::lanes * HEAD_DIM, 0, score[round]);
        mine.mask(t, begin, first, score);
        mine.softmax(score);
        mine.put_weights(weights, score);
        v_copy.finish(v_tile);
        __syncthreads(); // V and the weights are complete, and no thread reads K any more
        if (begin + tile::keys < all_keys)
            k_copy.begin(k_tile, k + (begin + tile::keys) * stride, stride, t.seq - begin - tile::keys);
        mine.add_values(weights, v_tile);
    }
    mine.store(t, batch, first, head);
}

template <int HEAD_DIM> attn_geometry geometry_dim(const attn_shape &s)
{
    return {dim3(s.q_heads, tiles(s.seq, tiling<HEAD_DIM>::rows), s.batch), dim3(threads),
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
        hipLaunchKernelGGL(flash_v2_vec<64>, g.grid, g.block, g.shared_bytes, stream, f32_tensors(args));
    else
        hipLaunchKernelGGL(flash_v2_vec<128>, g.grid, g.block, g.shared_bytes, stream, f32_tensors(args));
    return hipGetLastError();
}
} // namespace

attn_variant attn_baseline_vec()
{
    attn_variant v{};
    v.name = "baseline_vec";
    v.attn_impl = "flash_v2_vec";
    v.idea = "Q and O in registers, 4 queries per thread, vector loads, K and V prefetched into LDS";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = geometry;
    v.launch = launch;
    return v;
}
