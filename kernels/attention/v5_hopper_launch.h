// Host code of v5's Hopper pipeline: which form a shape takes, scratch memory, and the launches.
#pragma once

#include "attention/v5_hopper.h"
#include "attention/v5_launch.h"
#include "device/hopper_launch.h"

#include <algorithm>

namespace v5
{
constexpr size_t counter_bytes = 256; // at the start of scratch; split-KV's partial results follow

inline unsigned pipeline_blocks(int work_tiles)
{
    const int most = device_cores();
    return static_cast<unsigned>(work_tiles < most ? work_tiles : most);
}

inline tile_slots pipeline_slots()
{
    return {device_cores(), span, true, pipeline_times};
}

inline split pipeline_split(const attn_shape &s)
{
    return choose_split(s, pipeline_slots());
}

inline size_t pipeline_scratch(const attn_shape &s)
{
    return counter_bytes + split_bytes_up_to(s, pipeline_slots());
}

// A third consumer fills the gaps of the other two, whose exponentials take as long as the products of heads
// of 64. Its work tiles are longer, so there must be enough of them: with the full mask the rounds over all
// SMs tell, where three are 1.1 times as fast; causal ones differ in length, and the limits are measured
// (docs/kernels/v5.md).
constexpr int three_queries = 192;
inline bool takes_three(const attn_shape &s)
{
    const auto slots = static_cast<size_t>(device_cores());
    const size_t heads = static_cast<size_t>(s.batch) * s.q_heads;
    const size_t by_three = heads * tiles(s.seq, three_queries), by_two = heads * tiles(s.seq, span);
    if (s.head_dim != 64 || pipeline_split(s).parts > 1)
        return false;
    if (s.causal)
        return s.seq > 2048 ? by_three * 4 >= slots * 15 : s.seq > 1024 && by_three >= slots * 8;
    return (by_three + slots - 1) / slots * three_queries * 10 <= (by_two + slots - 1) / slots * span * 11;
}

// Rounds of work tiles over all SMs, up to which they may be assigned in turn.
constexpr int most_rounds_in_turn = 4;

// Clusters of two blocks, for neighbouring work tiles of a head. They halve the L2 cache's reads, and so
// the power that these take. With the causal mask one of the two waits for a step, which only long sequences
// make up for, and a few rounds of work tiles are better balanced in turn (docs/kernels/v5.md has the
// measurements).
constexpr int shortest_causal_pairs = 12288;
inline bool takes_pairs(const attn_shape &s)
{
    const split by = pipeline_split(s);
    return s.head_dim == 128 && tiles(s.seq, span) % 2 == 0 && by.parts == 1 && device_cores() > 1 &&
           (!s.causal ||
            (s.seq >= shortest_causal_pairs && by.work_tiles > device_cores() * most_rounds_in_turn));
}

template <class P> attn_geometry geometry_of(int work_tiles)
{
    return {dim3(pipeline_blocks(work_tiles)), dim3(P::threads), P::shared_bytes, P::consumers * 128};
}

inline attn_geometry pipeline_geometry(const attn_shape &s)
{
    const int work_tiles = pipeline_split(s).work_tiles;
    if (takes_three(s))
        return geometry_of<pipeline<format::bf16, 64, true, false, 3>>(work_tiles);
    if (takes_pairs(s))
        return geometry_of<pipeline<format::bf16, 128, true, false, 2, true, 2>>(work_tiles);
    return s.head_dim == 64 ? geometry_of<pipeline<format::bf16, 64, true, false>>(work_tiles)
                            : geometry_of<pipeline<format::bf16, 128, true, false>>(work_tiles);
}

// A few rounds over all SMs are assigned in turn, back and forth: it needs no counter, whose reset takes two
// microseconds, and balances causal work tiles better where they are ordered by length. Of more rounds a
// block may fall behind (docs/kernels/v5.md has the measurements).
inline bool goes_in_turn(const problem &p)
{
    const bool by_length = !p.causal || (p.part.parts == 1 && p.section >= p.heads);
    return p.part.work_tiles <= device_cores() * (by_length ? most_rounds_in_turn : 2);
}

// How many heads are processed together, at most. Short sequences do little work per byte: a section as large
// as the L2 cache makes all SMs first read new heads at once, from HBM, and then reread them. So sections are
// smaller up to 2,048 tokens. With the full mask new heads arrive all the time if a section has fewer work
// tiles than there are SMs; causal ones differ in length, and more of them balance better
// (docs/kernels/v5.md has the measurements).
constexpr int longest_in_sections = 2048;
template <class P> int section_limit(const problem &p)
{
    if (p.seq > longest_in_sections)
        return p.section;
    const int slots = device_cores() / P::cluster; // work tiles processed at the same time
    if (!p.causal)
        return slots / 2 / p.tiles;
    const int kv_heads = slots / (P::consumers == 3 ? 2 : 4);
    const int heads = slots / (p.seq <= 512 ? 4 : 2);
    return std::min(kv_heads * (p.q_heads / p.kv_heads), heads);
}

// Causal sections are equally large, since the last one determines how evenly the work ends. There are as
// many as bring them closest to the limit, so a single one may be half as large again.
template <class P> int pipeline_section(const problem &p)
{
    const int group = p.q_heads / p.kv_heads;
    const int limit = std::max(section_limit<P>(p), 1);
    if (!p.causal)
        return std::min(std::max(limit / group, 1) * group, p.heads);
    const int sections = std::max((2 * p.heads + limit - 1) / (2 * limit), 1);
    return ((p.heads + sections - 1) / sections + group - 1) / group * group;
}

template <class P> hipError_t launch_persistent(const attn_args &args, problem p, hipStream_t stream)
{
    using F = typename P::F;
    p.section = pipeline_section<P>(p);
    const attn_shape &s = args.shape;
    tensor_maps maps;
    constexpr int rows = F::keys / P::cluster; // of a tile, loaded at once
    const auto queries = [&](const void *data) -> hopper::tensor {
        return {data, P::type, s.batch, s.seq, s.q_heads, s.head_dim};
    };
    const auto keys = [&](const void *data) -> hopper::tensor {
        return {data, P::type, s.batch, s.seq, s.kv_heads, s.head_dim};
    };
    if (!hopper::describe(&maps.q, queries(args.q), F::queries) ||
        !hopper::describe(&maps.k, keys(args.k), rows) || !hopper::describe(&maps.v, keys(args.v), rows) ||
        !hopper::describe(&maps.o, queries(args.o), F::queries))
        return hipErrorInvalidValue;

    unsigned *counter = goes_in_turn(p) ? nullptr : static_cast<unsigned *>(args.scratch);
    const hipError_t error =
        counter ? hopper::launch_dependent(reset_counter, {1, 1}, stream, counter) : hipSuccess;
    if (error != hipSuccess)
        return error;
    const unsigned blocks = pipeline_blocks(p.part.work_tiles) / P::cluster * P::cluster;
    return hopper::launch_dependent(attend_pipelined<P>, {blocks, P::threads, P::shared_bytes, P::cluster},
                                    stream, p, divisors(p), maps, counter);
}

// Ping-pong costs two named barriers per tile. That pays off for short work tiles; in long ones the consumers
// fall out of phase by themselves (docs/kernels/v5.md has the measurements). Heads of 64 always have it: that
// long they take three consumers, unless there are very few of them.
constexpr int longest_ping_pong = 4096;

template <format FORMAT> hipError_t launch_three(const attn_args &args, const split &by, hipStream_t stream)
{
    const problem p =
        describe(args, by, static_cast<unsigned char *>(args.scratch) + counter_bytes, three_queries);
    return launch_persistent<pipeline<FORMAT, 64, true, false, 3>>(args, p, stream);
}

template <format FORMAT> hipError_t launch_pairs(const attn_args &args, const split &by, hipStream_t stream)
{
    problem p = describe(args, by, static_cast<unsigned char *>(args.scratch) + counter_bytes);
    p.tiles /= 2;
    if (p.causal)
        return launch_persistent<pipeline<FORMAT, 128, false, false, 2, false, 2>>(args, p, stream);
    return p.seq > longest_ping_pong
               ? launch_persistent<pipeline<FORMAT, 128, false, false, 2, true, 2>>(args, p, stream)
               : launch_persistent<pipeline<FORMAT, 128, true, false, 2, true, 2>>(args, p, stream);
}

template <format FORMAT, int HEAD_DIM>
hipError_t launch_pipelined(const attn_args &args, const split &by, hipStream_t stream)
{
    if constexpr (HEAD_DIM == 64) {
        if (by.parts == 1 && takes_three(args.shape))
            return launch_three<FORMAT>(args, by, stream);
    }
    if constexpr (HEAD_DIM == 128) {
        if (by.parts == 1 && takes_pairs(args.shape))
            return launch_pairs<FORMAT>(args, by, stream);
    }
    const problem p = describe(args, by, static_cast<unsigned char *>(args.scratch) + counter_bytes);
    if (by.parts > 1) {
        const hipError_t error = launch_persistent<pipeline<FORMAT, HEAD_DIM, true, true>>(args, p, stream);
        using F = fragment<FORMAT, HEAD_DIM>;
        return error != hipSuccess ? error
                                   : hopper::launch_dependent(merge_parts_dependent<F>,
                                                              {merge_blocks<F>(p), merge_threads}, stream, p);
    }
    if constexpr (HEAD_DIM == 128) {
        if (p.seq > longest_ping_pong)
            return p.causal ? launch_persistent<pipeline<FORMAT, HEAD_DIM, false, false>>(args, p, stream)
                            : launch_persistent<pipeline<FORMAT, HEAD_DIM, false, false, 2, true>>(args, p,
                                                                                                   stream);
    }
    return p.causal ? launch_persistent<pipeline<FORMAT, HEAD_DIM, true, false>>(args, p, stream)
                    : launch_persistent<pipeline<FORMAT, HEAD_DIM, true, false, 2, true>>(args, p, stream);
}
} // namespace v5
