#include "base/hip_check.h"
#include "model/element.h"
#include "model/ops.h"

namespace
{
#if defined(KS_PLATFORM_CPU)
constexpr int threads = 64; // per block; a thread is expensive there
constexpr unsigned most_blocks = 16;
#else
constexpr int threads = 256;
constexpr unsigned most_blocks = 4096;
#endif

// The grid for a grid-stride loop over `count` items.
dim3 blocks_for(size_t count)
{
    const size_t wanted = (count + threads - 1) / threads;
    return dim3(wanted < most_blocks ? static_cast<unsigned>(wanted) : most_blocks);
}

void check_launch(const char *what)
{
    hip_check(hipGetLastError(), std::string("cannot launch ") + what);
}

template <class DO> __device__ __forceinline__ void each_item(size_t count, DO f)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        f(i);
}

// The grid for each_in_row: a block for every row, or several where there are few rows.
dim3 grid_of_rows(int rows, int items)
{
    const unsigned useful = static_cast<unsigned>((items + threads - 1) / threads);
    const unsigned parts = most_blocks / static_cast<unsigned>(rows);
    return dim3(static_cast<unsigned>(rows), parts < 1 ? 1 : parts < useful ? parts : useful);
}

// Calls f(i) for this thread's items of row blockIdx.x. A division per index would cost more than the memory.
template <class DO> __device__ __forceinline__ void each_in_row(int items, DO f)
{
    const int step = static_cast<int>(gridDim.y * blockDim.x);
#pragma unroll 4
    for (int i = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x); i < items; i += step)
        f(i);
}

// The sum of `value` over the block, returned to every thread. `shared` has one element per thread.
__device__ float block_sum(float value, float *shared)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    return shared[0];
}

template <class E>
__global__ void embed(float *x, const typename E::type *table, const uint32_t *ids, size_t quads,
                      int row_quads)
{
    each_item(quads, [&](size_t i) {
        const size_t row = i / row_quads, at = i % row_quads;
        const float4 value = E::load4(table + (static_cast<size_t>(ids[row]) * row_quads + at) * 4);
        *reinterpret_cast<float4 *>(x + i * 4) = value;
    });
}

__device__ float4 plus(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

// One block per row.
template <class E>
__global__ void add_norm(typename E::type *y, float *x, const typename E::type *delta, const float *weight,
                         int width, float eps)
{
    __shared__ float shared[threads];
    const size_t row = static_cast<size_t>(blockIdx.x) * width;
    float sum = 0.0f;
    for (int i = threadIdx.x * 4; i < width; i += blockDim.x * 4) {
        float4 value = *reinterpret_cast<const float4 *>(x + row + i);
        if (delta) {
            value = plus(value, E::load4(delta + row + i));
            *reinterpret_cast<float4 *>(x + row + i) = value;
        }
        sum += value.x * value.x + value.y * value.y + (value.z * value.z + value.w * value.w);
    }
    const float scale = rsqrtf(block_sum(sum, shared) / static_cast<float>(width) + eps);
    for (int i = threadIdx.x * 4; i < width;
         i += blockDim.x * 4) { // the thread's own elements: needs no barrier
        const float4 value = *reinterpret_cast<const float4 *>(x + row + i);
        const float4 by = *reinterpret_cast<const float4 *>(weight + i);
        E::store4(y + row + i, make_float4(value.x * scale * by.x, value.y * scale * by.y,
                                           value.z * scale * by.z, value.w * scale * by.w));
    }
}

struct rope_shape {
    int q_quads, kv_quads;      // of a row
    int head_quads, rope_quads; // head_quads is a power of two
};

// The destination of four elements of a row [q | k | v].
template <class OUT> struct rope_place {
    typename OUT::type *to;
    bool turned;

    __device__ rope_place(const rope_shape &s, typename OUT::type *q, typename OUT::type *k,
                          typename OUT::type *v, size_t row, int at)
    {
        const int in_k = at - s.q_quads, in_v = in_k - s.kv_quads;
        turned = in_v < 0 && (at & (s.head_quads - 1)) < s.rope_quads;
        if (in_k < 0)
            to = q + (row * s.q_quads + at) * 4;
        else if (in_v < 0)
            to = k + (row * s.kv_quads + in_k) * 4;
        else
            to = v + (row * s.kv_quads + in_v) * 4;
    }
};

template <class IN, class OUT>
__global__ void rope(typename OUT::type *__restrict__ q, typename OUT::type *__restrict__ k,
                     typename OUT::type *__restrict__ v, const typename IN::type *__restrict__ qkv,
                     const float2 *__restrict__ turns, rope_shape s)
{
    const size_t row = blockIdx.x;
    const int row_quads = s.q_quads + 2 * s.kv_quads;
    each_in_row(row_quads, [&](int at) {
        const rope_place<OUT> place(s, q, k, v, row, at);
        float4 x = IN::load4(qkv + (row * row_quads + at) * 4);
        if (place.turned) {
            const float2 *turn = turns + (row * s.rope_quads + (at & (s.head_quads - 1))) * 2;
            const float2 a = turn[0], b = turn[1];
            x = make_float4(x.x * a.x - x.y * a.y, x.x * a.y + x.y * a.x, x.z * b.x - x.w * b.y,
                            x.z * b.y + x.w * b.x);
        }
        OUT::store4(place.to, x);
    });
}

// Sixteen bits need no more than a GPU's approximations, which take half the time.
template <class E> __device__ float silu_times(float gate, float up)
{
#if !defined(KS_PLATFORM_CPU)
    if constexpr (sizeof(typename E::type) == 2)
        return __fdividef(gate, 1.0f + __expf(-gate)) * up;
#endif
    return gate / (1.0f + expf(-gate)) * up;
}

template <class E>
__global__ void swiglu(typename E::type *__restrict__ y, const typename E::type *__restrict__ gate_up,
                       int row_quads)
{
    const size_t row = static_cast<size_t>(blockIdx.x) * row_quads;
    each_in_row(row_quads, [&](int at) {
        const typename E::type *from = gate_up + (2 * row + at) * 4;
        const float4 gate = E::load4(from), up = E::load4(from + static_cast<size_t>(row_quads) * 4);
        E::store4(y + (row + at) * 4, make_float4(silu_times<E>(gate.x, up.x), silu_times<E>(gate.y, up.y),
                                                  silu_times<E>(gate.z, up.z), silu_times<E>(gate.w, up.w)));
    });
}

template <class OUT, class IN>
__global__ void convert(typename OUT::type *to, const typename IN::type *from, size_t quads)
{
    each_item(quads, [&](size_t i) { OUT::store4(to + i * 4, IN::load4(from + i * 4)); });
}

template <class E> __global__ void seeded(typename E::type *to, seeded_tensor tensor, size_t quads)
{
    each_item(quads, [&](size_t i) {
        E::store4(to + i * 4, make_float4(seeded_value(tensor, i * 4), seeded_value(tensor, i * 4 + 1),
                                          seeded_value(tensor, i * 4 + 2), seeded_value(tensor, i * 4 + 3)));
    });
}

__device__ bool better(float value, uint32_t id, float than, uint32_t than_id)
{
    return value > than || (value == than && id < than_id);
}

__global__ void argmax(uint32_t *to, const float *from, int count)
{
    __shared__ float values[threads];
    __shared__ uint32_t ids[threads];
    float best = -INFINITY;
    uint32_t best_id = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        if (better(from[i], i, best, best_id)) {
            best = from[i];
            best_id = i;
        }
    }
    values[threadIdx.x] = best;
    ids[threadIdx.x] = best_id;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        const unsigned other = threadIdx.x + half;
        if (threadIdx.x < half && better(values[other], ids[other], values[threadIdx.x], ids[threadIdx.x])) {
            values[threadIdx.x] = values[other];
            ids[threadIdx.x] = ids[other];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *to = ids[0];
}

// One block per query head. Groups of 16 lanes process interleaved keys, each with its own online softmax and
// HEAD_DIM / 16 dims per lane; the groups' results are combined at the end, in order.
constexpr int group_lanes = 16;
constexpr int groups = threads / group_lanes;

template <int DIMS> struct dims_of_lane {
    float at[DIMS];

    template <class E> __device__ __forceinline__ void load(const typename E::type *from)
    {
#pragma unroll
        for (int i = 0; i < DIMS; i += 4) {
            const float4 x = E::load4(from + i);
            at[i] = x.x, at[i + 1] = x.y, at[i + 2] = x.z, at[i + 3] = x.w;
        }
    }
};

template <int DIMS> __device__ float group_dot(const dims_of_lane<DIMS> &a, const dims_of_lane<DIMS> &b)
{
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < DIMS; i++)
        sum += a.at[i] * b.at[i];
    for (int mask = 1; mask < group_lanes; mask *= 2)
        sum += __shfl_xor(sum, mask, group_lanes);
    return sum;
}

template <int DIMS> struct decode_state {
    float max = -INFINITY, sum = 0.0f;
    float o[DIMS] = {};

    __device__ __forceinline__ void take(float score, const dims_of_lane<DIMS> &value)
    {
        const float new_max = fmaxf(max, score);
        const float keep = expf(max - new_max), weight = expf(score - new_max);
        max = new_max;
        sum = sum * keep + weight;
#pragma unroll
        for (int i = 0; i < DIMS; i++)
            o[i] = o[i] * keep + weight * value.at[i];
    }
};

// The groups' partial results, in shared memory.
template <int HEAD_DIM> struct group_results {
    float outputs[groups * HEAD_DIM];
    float maxima[groups], sums[groups];

    // Four dims of the output from `dim` on, combined over the first `used` groups.
    __device__ __forceinline__ float4 combined(int used, int dim) const
    {
        float max = -INFINITY, sum = 0.0f;
        for (int g = 0; g < used; g++)
            max = fmaxf(max, maxima[g]);
        float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int g = 0; g < used; g++) {
            const float weight = expf(maxima[g] - max);
            const float *from = outputs + g * HEAD_DIM + dim;
            sum += weight * sums[g];
            total = plus(total,
                         make_float4(weight * from[0], weight * from[1], weight * from[2], weight * from[3]));
        }
        const float by = 1.0f / sum;
        return make_float4(total.x * by, total.y * by, total.z * by, total.w * by);
    }
};

template <class E, int HEAD_DIM>
__global__ void __launch_bounds__(threads)
    decode_attention(typename E::type *o, const typename E::type *q, const typename E::type *k,
                     const typename E::type *v, int keys, int head_group, size_t key_stride, float scale)
{
    constexpr int dims = HEAD_DIM / group_lanes;
    __shared__ group_results<HEAD_DIM> results;
    const int group = threadIdx.x / group_lanes, lane = threadIdx.x % group_lanes;
    const size_t first_dim = static_cast<size_t>(blockIdx.x / head_group) * HEAD_DIM + lane * dims;

    dims_of_lane<dims> query, key, value;
    query.template load<E>(q + static_cast<size_t>(blockIdx.x) * HEAD_DIM + lane * dims);
    decode_state<dims> state;
    for (int first = 0; first < keys;
         first += groups) { // no lane may leave the loop early: shuffles need all of them
        const int row = first + group < keys ? first + group : keys - 1;
        key.template load<E>(k + row * key_stride + first_dim);
        value.template load<E>(v + row * key_stride + first_dim);
        const float score = group_dot(query, key) * scale;
        if (first + group < keys)
            state.take(score, value);
    }
#pragma unroll
    for (int i = 0; i < dims; i++)
        results.outputs[group * HEAD_DIM + lane * dims + i] = state.o[i];
    if (lane == 0) {
        results.maxima[group] = state.max;
        results.sums[group] = state.sum;
    }
    __syncthreads();
    if (threadIdx.x >= HEAD_DIM / 4)
        return;
    const int dim = threadIdx.x * 4;
    E::store4(o + static_cast<size_t>(blockIdx.x) * HEAD_DIM + dim,
              results.combined(keys < groups ? keys : groups, dim));
}

template <class E, int HEAD_DIM> void launch_decode(const decode_args &a)
{
    using T = typename E::type;
    hipLaunchKernelGGL((decode_attention<E, HEAD_DIM>), dim3(a.q_heads), dim3(threads), 0, nullptr,
                       static_cast<T *>(a.o), static_cast<const T *>(a.q), static_cast<const T *>(a.k),
                       static_cast<const T *>(a.v), a.keys, a.q_heads / a.kv_heads,
                       static_cast<size_t>(a.kv_heads) * HEAD_DIM, a.scale);
}
} // namespace

void op_embed(float *x, const void *table, attn_dtype type, const uint32_t *ids, int rows, int width)
{
    const size_t quads = static_cast<size_t>(rows) * width / 4;
    choose_element(type, [&](auto e) {
        using E = decltype(e);
        hipLaunchKernelGGL(embed<E>, blocks_for(quads), dim3(threads), 0, nullptr, x,
                           static_cast<const typename E::type *>(table), ids, quads, width / 4);
    });
    check_launch("embed");
}

void op_add_norm(const norm_args &a)
{
    choose_element(a.type, [&](auto e) {
        using E = decltype(e);
        using T = typename E::type;
        hipLaunchKernelGGL(add_norm<E>, dim3(a.rows), dim3(threads), 0, nullptr, static_cast<T *>(a.y), a.x,
                           static_cast<const T *>(a.delta), a.weight, a.width, a.eps);
    });
    check_launch("add_norm");
}

void op_rope(const rope_args &a)
{
    const rope_shape s{a.q_heads * a.head_dim / 4, a.kv_heads * a.head_dim / 4, a.head_dim / 4,
                       a.rope_dims / 4};
    const dim3 grid = grid_of_rows(a.rows, s.q_quads + 2 * s.kv_quads);
    choose_element(a.type, [&](auto in) {
        choose_element(a.to_type, [&](auto out) {
            using IN = decltype(in);
            using OUT = decltype(out);
            using T = typename OUT::type;
            hipLaunchKernelGGL((rope<IN, OUT>), grid, dim3(threads), 0, nullptr, static_cast<T *>(a.q),
                               static_cast<T *>(a.k), static_cast<T *>(a.v),
                               static_cast<const typename IN::type *>(a.qkv), a.turns, s);
        });
    });
    check_launch("rope");
}

void op_swiglu(void *y, const void *gate_up, int rows, int ffn, attn_dtype type)
{
    choose_element(type, [&](auto e) {
        using E = decltype(e);
        using T = typename E::type;
        hipLaunchKernelGGL(swiglu<E>, grid_of_rows(rows, ffn / 4), dim3(threads), 0, nullptr,
                           static_cast<T *>(y), static_cast<const T *>(gate_up), ffn / 4);
    });
    check_launch("swiglu");
}

void op_convert(void *to, attn_dtype to_type, const void *from, attn_dtype from_type, size_t count)
{
    choose_element(to_type, [&](auto out) {
        choose_element(from_type, [&](auto in) {
            using OUT = decltype(out);
            using IN = decltype(in);
            hipLaunchKernelGGL((convert<OUT, IN>), blocks_for(count / 4), dim3(threads), 0, nullptr,
                               static_cast<typename OUT::type *>(to),
                               static_cast<const typename IN::type *>(from), count / 4);
        });
    });
    check_launch("convert");
}

void op_seeded(void *to, attn_dtype type, const seeded_tensor &tensor, size_t count)
{
    choose_element(type, [&](auto e) {
        using E = decltype(e);
        hipLaunchKernelGGL(seeded<E>, blocks_for(count / 4), dim3(threads), 0, nullptr,
                           static_cast<typename E::type *>(to), tensor, count / 4);
    });
    check_launch("seeded");
}

void op_argmax(uint32_t *id, const float *from, int count)
{
    hipLaunchKernelGGL(argmax, dim3(1), dim3(threads), 0, nullptr, id, from, count);
    check_launch("argmax");
}

void op_decode_attention(const decode_args &a)
{
    choose_element(a.type, [&](auto e) {
        using E = decltype(e);
        a.head_dim == 64 ? launch_decode<E, 64>(a) : launch_decode<E, 128>(a);
    });
    check_launch("decode_attention");
}
