// Split-KV (flash decoding) for v5: how many parts pay off when there are too few work tiles for the device,
// the scratch memory that the parts need, and the kernel that merges them. There are no atomics and the order
// of the parts is fixed, so the same inputs give the same bits.
#pragma once

#include "attention/layout.h"
#include "attention/v5.h"

namespace v5
{
struct split {
    int parts = 1;      // of the rows with the most keys
    int spans = 0;      // of keys per part, at most
    int work_tiles = 0; // in total
};

// The split into parts of at most `spans` spans of keys; a span has as many as a work tile has queries, here
// and below by default those of the tile loop and of Hopper's pipeline.
inline split split_by(const attn_shape &s, int spans, int queries = span)
{
    const int tiles_a_head = static_cast<int>(tiles(s.seq, queries));
    const int heads = s.batch * s.q_heads;
    split by;
    by.spans = spans;
    by.parts = (tiles_a_head + spans - 1) / spans;
    const int hidden = s.causal ? spans * by.parts * (by.parts - 1) / 2 : 0;
    by.work_tiles = heads * (by.parts * tiles_a_head - hidden);
    return by;
}

// What work tiles and a split cost, in units of the time for one span of keys. The constants were fitted on
// an H100 (docs/kernels/v5.md).
struct split_times {
    double start;    // of a work tile: its first Q K^T and last P V overlap with nothing
    double merge;    // by the second kernel,
    double merge_mb; // and for each MB of partial results, which are written and read
    double tail;     // at the end, as a share of the longest causal work tile
};
constexpr split_times loop_times = {2.0, 6.0, 0.0, 0.35};
constexpr split_times pipeline_times = {1.0, 2.0, 0.5, 1.0};

// How a form runs its work tiles.
struct tile_slots {
    int count; // at once, on the whole device
    int queries = span;
    bool back_and_forth =
        false; // of two rounds; so a block with a long causal work tile gets a short one next
    split_times times = loop_times;
};

// The results of `parts` parts of a row: an output in fp32, a maximum and a sum.
inline size_t partial_bytes(const attn_shape &s, size_t parts)
{
    return parts * (sizeof(float) * s.head_dim + sizeof(float2));
}

// The estimated time.
inline double split_cost(const attn_shape &s, const split &by, const tile_slots &slots)
{
    const split_times &times = slots.times;
    const double tiles_a_head = tiles(s.seq, slots.queries);
    const int heads = s.batch * s.q_heads;
    const double longest = by.spans + times.start;
    const size_t rows = static_cast<size_t>(by.work_tiles) * static_cast<size_t>(slots.queries);
    const double merge = times.merge + times.merge_mb * 1e-6 * static_cast<double>(partial_bytes(s, rows));
    const double fixed = by.parts > 1 ? merge : 0.0;
    const int rounds = (by.work_tiles + slots.count - 1) / slots.count;
    if (!s.causal || rounds == 1)
        return rounds * longest + fixed;
    if (slots.back_and_forth && by.parts == 1 && rounds == 2) {
        const double two = 2 * (tiles_a_head + times.start) - (2.0 * slots.count - 1) / heads; // of one block
        return two > longest ? two : longest;
    }
    const double work = heads * tiles_a_head * (tiles_a_head + 1) / 2 + by.work_tiles * times.start;
    const double filled = work / slots.count + times.tail * longest;
    return (filled > longest ? filled : longest) + fixed;
}

// The cheapest split; none when the work tiles fill the device anyway.
inline split choose_split(const attn_shape &s, const tile_slots &slots)
{
    constexpr int most_parts = 64;
    constexpr int least_spans = 2;
    const int tiles_a_head = static_cast<int>(tiles(s.seq, slots.queries));
    split best = split_by(s, tiles_a_head, slots.queries);
    if (best.work_tiles >= 2 * slots.count)
        return best;
    double least = split_cost(s, best, slots);
    for (int parts = 2; parts <= most_parts; parts++) {
        const int spans = (tiles_a_head + parts - 1) / parts;
        if (spans < least_spans)
            break;
        const split by = split_by(s, spans, slots.queries);
        const double cost = split_cost(s, by, slots);
        if (cost < 0.98 * least) { // a smaller gain is not worth the memory
            best = by;
            least = cost;
        }
    }
    return best;
}

inline size_t split_queries(const attn_shape &s, const split &by)
{
    return by.parts > 1 ? static_cast<size_t>(by.parts) * s.batch * s.seq * s.q_heads : 0;
}

// Scratch memory for the partial results.
inline size_t split_bytes(const attn_shape &s, const split &by)
{
    return partial_bytes(s, split_queries(s, by));
}

// Enough for every shorter sequence too, which may be split where this one is not.
inline size_t split_bytes_up_to(const attn_shape &s, const tile_slots &slots)
{
    size_t most = 0;
    for (int seq = s.seq; seq > 0; seq = (seq - 1) / slots.queries * slots.queries) {
        attn_shape shorter = s;
        shorter.seq = seq;
        const size_t bytes = split_bytes(shorter, choose_split(shorter, slots));
        most = bytes > most ? bytes : most;
    }
    return most;
}

inline partials describe_split(const attn_shape &s, const split &by, void *scratch)
{
    auto *o = static_cast<float *>(scratch);
    auto *sums = reinterpret_cast<float2 *>(o + split_queries(s, by) * s.head_dim);
    return {o, sums, by.spans, by.parts, by.work_tiles};
}

constexpr int merge_threads = 128;

// O = sum of the parts' outputs / sum of their row sums, each part rescaled by 2^(its maximum - the overall
// maximum).
template <class F> __device__ __forceinline__ void merge_query(const problem &p)
{
    constexpr int lanes = F::head_dim / 4; // per query
    const int dim = static_cast<int>(threadIdx.x) % lanes * 4;
    const size_t query = static_cast<size_t>(blockIdx.x) * (merge_threads / lanes) + threadIdx.x / lanes;
    const size_t queries = p.queries_in_all();
    if (query >= queries)
        return;
    const int row = static_cast<int>(query / p.q_heads % p.seq);
    const int parts = p.parts_of<F::block_queries>(row / F::block_queries);
    float max = -INFINITY;
    for (int part = 0; part < parts; part++)
        max = fmaxf(max, p.part.sums[part * queries + query].x);
    float sum = 0.0f;
    float o[4] = {};
    for (int part = 0; part < parts; part++) {
        const size_t at = part * queries + query;
        const float2 part_sum = p.part.sums[at];
        const float4 part_o = *reinterpret_cast<const float4 *>(p.part.o + at * F::head_dim + dim);
        const float weight = exp2_fast(part_sum.x - max);
        sum += weight * part_sum.y;
        o[0] += weight * part_o.x;
        o[1] += weight * part_o.y;
        o[2] += weight * part_o.z;
        o[3] += weight * part_o.w;
    }
    const float factor = 1.0f / sum;
    auto *to = reinterpret_cast<uint32_t *>(p.o + query * F::head_dim + dim);
    to[0] = F::pack(o[0] * factor, o[1] * factor);
    to[1] = F::pack(o[2] * factor, o[3] * factor);
}

template <class F> __global__ void __launch_bounds__(merge_threads) merge_parts(problem p)
{
    merge_query<F>(p);
}

template <class F> unsigned merge_blocks(const problem &p)
{
    constexpr int queries_a_block = merge_threads / (F::head_dim / 4);
    const size_t queries = static_cast<size_t>(p.heads) * p.seq;
    return static_cast<unsigned>((queries + queries_a_block - 1) / queries_a_block);
}

template <class F> hipError_t launch_merge(const problem &p, hipStream_t stream)
{
    hipLaunchKernelGGL(merge_parts<F>, dim3(merge_blocks<F>(p)), dim3(merge_threads), 0, stream, p);
    return hipGetLastError();
}
} // namespace v5
