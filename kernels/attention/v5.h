// What the forms of v5 share: the tile scheduler, the mask, and the online softmax.
// Order of work tiles: heads are grouped into sections whose K and V fit in the L2 cache together (L2
// swizzle). Within a section the tiles with the most keys come first (longest processing time first), so that
// short ones fill the tail, and the query heads of one K/V head are adjacent. Where that yields too few work
// tiles for the device, the keys are split too (split-KV, v5_split.h). Chiplets: v5_queue.h.
#pragma once

#include "attention/attention.h"
#include "device/divisor.h"
#include "device/fragment.h"

#include <cmath>

namespace v5
{
// Queries per work tile of the tile loop and of Hopper's pipeline. Keys are split at multiples of it, so that
// every query of a work tile sees the tile's first key and every maximum is finite.
constexpr int span = 128;

// Split-KV: the partial results that wait in scratch memory for the merge kernel.
struct partials {
    float *o;       // [part][query][dim], unnormalised
    float2 *sums;   // [part][query]: maximum, as a base-2 exponent, and sum
    int spans;      // of keys per part; the last part may have fewer
    int parts;      // of the rows with the most keys
    int work_tiles; // in total
};

struct key_range {
    int begin, end;
};

// How heads are grouped into sections, with ordinary divisions.
struct sections {
    int heads; // in all
    int size;  // heads of a section; the last one may have fewer
    int tiles; // work tiles of a head

    __device__ int section_of(int index) const
    {
        return index / (size * tiles);
    }
    __device__ int tile_of(int within, int count) const
    {
        return within / count;
    }
};
// The same with divisors, for a block that processes many work tiles. Made by the host.
struct prepared_sections : sections {
    divisor by_section, by_size, by_last;

    explicit prepared_sections(const sections &s)
        : sections(s), by_section(s.size * s.tiles), by_size(s.size), by_last((s.heads - 1) % s.size + 1)
    {
    }
    __device__ int section_of(int index) const
    {
        return by_section.quotient(index);
    }
    __device__ int tile_of(int within, int count) const
    {
        return count == size ? by_size.quotient(within) : by_last.quotient(within);
    }
};

struct problem {
    const uint16_t *q, *k, *v;
    uint16_t *o;
    int seq, q_heads, kv_heads;
    int heads;   // batch * q_heads
    int section; // heads processed together
    int tiles;   // of queries, per head
    bool causal;
    float scale; // of q.k, for exp2 instead of exp
    partials part;

    // `head` is b * q_heads + h for head h of batch b.
    __device__ size_t query_offset(int head, int head_dim) const
    {
        return (static_cast<size_t>(head / q_heads) * seq * q_heads + head % q_heads) * head_dim;
    }
    __device__ size_t key_offset(int head, int head_dim) const
    {
        const int kv_head = head % q_heads / (q_heads / kv_heads);
        return (static_cast<size_t>(head / q_heads) * seq * kv_heads + kv_head) * head_dim;
    }
    __device__ head_rows queries(int head, int head_dim) const
    {
        return {q + query_offset(head, head_dim), static_cast<uint32_t>(q_heads * head_dim), seq};
    }
    __device__ head_rows keys(int head, int head_dim) const
    {
        return {k + key_offset(head, head_dim), static_cast<uint32_t>(kv_heads * head_dim), seq};
    }
    __device__ head_rows values(int head, int head_dim) const
    {
        return {v + key_offset(head, head_dim), static_cast<uint32_t>(kv_heads * head_dim), seq};
    }
    // The number of keys that the query at `row` sees.
    __device__ int keys_of(int row) const
    {
        return causal && row < seq ? row + 1 : seq;
    }
    // SPAN: the form's queries per work tile.
    template <int SPAN = span> __device__ int keys_of_tile(int tile) const
    {
        return keys_of(tile * SPAN + SPAN - 1);
    }
    template <int SPAN = span> __device__ int parts_of(int tile) const
    {
        return (keys_of_tile<SPAN>(tile) + part.spans * SPAN - 1) / (part.spans * SPAN);
    }
    __device__ size_t queries_in_all() const
    {
        return static_cast<size_t>(heads) * seq;
    }
};

// A work tile of the scheduler: `span` queries of one head and, with SPLIT, one part of their keys. With
// SPLIT the last part comes first, because only the longest rows have it; the short rows, whose keys are not
// split, come at the end.
struct work_tile {
    int head, tile, part = 0;

    template <bool SPLIT> static __device__ work_tile of(const problem &p, int index)
    {
        return of<SPLIT>(p, sections{p.heads, p.section, p.tiles}, index);
    }
    template <bool SPLIT, class SECTIONS>
    static __device__ work_tile of(const problem &p, const SECTIONS &by, int index)
    {
        return SPLIT ? of_part(p, index) : of_tile(by, index);
    }
    template <bool SPLIT> static __device__ int count(const problem &p)
    {
        return SPLIT ? p.part.work_tiles : p.heads * p.tiles;
    }

    // The keys of this work tile.
    template <bool SPLIT, int SPAN = span> __device__ key_range keys(const problem &p) const
    {
        const int all = p.keys_of_tile<SPAN>(tile);
        if (!SPLIT)
            return {0, all};
        const int begin = part * p.part.spans * SPAN;
        const int end = begin + p.part.spans * SPAN;
        return {begin, end < all ? end : all};
    }

  private:
    template <class SECTIONS> static __device__ work_tile of_tile(const SECTIONS &by, int index)
    {
        const int begin = by.section_of(index) * by.size;
        const int count = by.heads - begin < by.size ? by.heads - begin : by.size;
        const int within = index - begin * by.tiles;
        const int tile = by.tile_of(within, count);
        return {begin + within - tile * count, by.tiles - 1 - tile};
    }
    static __device__ work_tile of_part(const problem &p, int index)
    {
        int part = p.part.parts - 1;
        for (; part > 0; part--) { // only rows from tile part * part.spans on have this part
            const int with = p.heads * (p.causal ? p.tiles - part * p.part.spans : p.tiles);
            if (index < with)
                break;
            index -= with;
        }
        return {index % p.heads, p.tiles - 1 - index / p.heads, part};
    }
};

// Calls f(value, row, tile j, element e) for every value of a lane's scores or output.
template <class F, int I, int J, class DO> __device__ __forceinline__ void each(float (&at)[I][J][4], DO f)
{
#pragma unroll
    for (int i = 0; i < I; i++)
#pragma unroll
        for (int j = 0; j < J; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                f(at[i][j][e], F::row(i, e), j, e);
}

// Masks the scores of keys that a query does not see: those from `limit[row]` on, relative to the tile.
template <class F> __device__ __forceinline__ void mask(typename F::scores &s, const int (&limit)[F::rows])
{
    each<F>(s.at, [&](float &x, int r, int j, int e) { x = F::key(j, e) < limit[r] ? x : -INFINITY; });
}

// The online softmax of a lane's rows. `sum` is this lane's share, in F::sums partial sums (two allow packed
// additions); total() reduces it over the lanes.
template <class F> struct softmax {
    float max[F::rows], sum[F::rows][F::sums];

    __device__ softmax()
    {
#pragma unroll
        for (int r = 0; r < F::rows; r++) {
            max[r] = -INFINITY;
            for (float &part : sum[r])
                part = 0.0f;
        }
    }

    // Turns a tile's scores into probabilities relative to the new maximum, and sets `keep`, the factor by
    // which the caller must rescale its output. Probabilities and sums are scaled up by 2^lift.
    __device__ __forceinline__ void absorb(typename F::scores &s, float (&keep)[F::rows], float scale)
    {
        float old[F::rows];
#pragma unroll
        for (int r = 0; r < F::rows; r++)
            old[r] = max[r];
        each<F>(s.at, [&](float &x, int r, int, int) { max[r] = fmaxf(max[r], x); });
#pragma unroll
        for (int r = 0; r < F::rows; r++) {
            max[r] = F::row_max(max[r]);
            keep[r] = exp2_fast((old[r] - max[r]) * scale);
            for (float &part : sum[r])
                part *= keep[r];
        }
        exponentiate(s, scale);
    }

    // absorb() in two halves, for wavefronts whose lanes vote cheaply: the reference `max` stays where it is
    // until a score exceeds it by `slack`, so that the output seldom has to be rescaled. Returns whether it
    // moved, the same for all lanes; `keep` is set only then. Probabilities stay below 2^(slack * scale).
    __device__ __forceinline__ bool follow(typename F::scores &s, float (&keep)[F::rows], float scale,
                                           float slack)
    {
        float top[F::rows];
#pragma unroll
        for (float &x : top)
            x = -INFINITY;
        each<F>(s.at, [&](float &x, int r, int, int) { top[r] = fmaxf(top[r], x); });
        bool over = false;
#pragma unroll
        for (int r = 0; r < F::rows; r++)
            over |= top[r] > max[r] + slack;
        if (!F::any(over))
            return false;
#pragma unroll
        for (int r = 0; r < F::rows; r++) {
            const float old = max[r];
            max[r] = F::row_max(fmaxf(old, top[r]));
            keep[r] = exp2_fast((old - max[r]) * scale);
            for (float &part : sum[r])
                part *= keep[r];
        }
        return true;
    }
    __device__ __forceinline__ void exponentiate(typename F::scores &s, float scale)
    {
        float shift[F::rows];
#pragma unroll
        for (int r = 0; r < F::rows; r++)
            shift[r] = max[r] * scale - F::lift;
        each<F>(s.at, [&](float &x, int r, int, int e) {
            x = exp2_fast(fmaf(x, scale, -shift[r]));
            sum[r][e % F::sums] += x;
        });
    }

    __device__ float total(int r) const
    {
        return F::row_sum(F::sums == 1 ? sum[r][0] : sum[r][0] + sum[r][F::sums - 1]);
    }
};

// Stores a wave's partial results, rows from `first` on.
template <class F>
__device__ __forceinline__ void store_part(const problem &p, const work_tile &at, int first,
                                           const typename F::output &o, const softmax<F> &rows)
{
#pragma unroll
    for (int r = 0; r < F::rows; r++) {
        const int row = first + F::query(r);
        const float sum = rows.total(r);
        if (row >= p.seq)
            continue;
        const size_t query =
            at.part * p.queries_in_all() + p.query_offset(at.head, 1) + static_cast<size_t>(row) * p.q_heads;
        F::store(p.part.o + query * F::head_dim, o, r);
        if (F::key(0, 0) == 0) // one of the lanes that share the row
            p.part.sums[query] = make_float2(rows.max[r] * p.scale, sum);
    }
}

template <class F>
__device__ __forceinline__ void rescale(typename F::output &o, const float (&keep)[F::rows])
{
    each<F>(o.at, [&](float &x, int r, int, int) { x *= keep[r]; });
}
} // namespace v5
