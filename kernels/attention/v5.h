// What every form of v5 shares: where a block works, the mask, and the softmax.
// The order of work: heads are taken in sections whose K and V fit in the L2 cache together; within a section
// the rows with the most keys come first, so that the short ones fill the end, and the query heads of
// one K/V head are neighbours.
#pragma once

#include "attention/attention.h"
#include "device/fragment.h"

#include <cmath>

namespace v5
{
struct problem {
    const uint16_t *q, *k, *v;
    uint16_t *o;
    int seq, q_heads, kv_heads;
    int heads;   // batch * q_heads
    int section; // of these, that are worked on together
    int tiles;   // of queries, a head
    bool causal;
    float scale; // of q.k before an exponential to the base of two

    // Heads h of batch b are numbered b * q_heads + h here.
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
    // Keys that the query at `row` sees, and that at least one of rows [first, first + count) sees.
    __device__ int keys_of(int row) const
    {
        return causal && row < seq ? row + 1 : seq;
    }
    __device__ int keys_of_tile(int first, int count) const
    {
        return keys_of(first + count - 1);
    }
};

// The piece of work with number `index` of heads * tiles.
struct place {
    int head, tile;

    __device__ place(const problem &p, int index)
    {
        const int begin = index / (p.section * p.tiles) * p.section;
        const int count = p.heads - begin < p.section ? p.heads - begin : p.section;
        const int within = index - begin * p.tiles;
        head = begin + within % count;
        tile = p.tiles - 1 - within / count;
    }
};

// For every value of a lane's scores or output: f(value, the row it belongs to, tile j, element e).
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

// Takes out of the sums the scores that a query does not see: those from `limit[row]` on, counted in the
// tile.
template <class F> __device__ __forceinline__ void mask(typename F::scores &s, const int (&limit)[F::rows])
{
    each<F>(s.at, [&](float &x, int r, int j, int e) { x = F::key(j, e) < limit[r] ? x : -INFINITY; });
}

// The running softmax of a lane's rows. `sum` is this lane's share until total() adds the others', in F::sums
// parts: two let neighbouring values be added in pairs.
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

    // Turns a tile's scores into probabilities against the new maximum. What was summed before, here and
    // in the output, counts `keep` times from now on. They are 2^lift too large, and so is their sum.
    __device__ __forceinline__ void absorb(typename F::scores &s, float (&keep)[F::rows], float scale)
    {
        float old[F::rows], shift[F::rows];
#pragma unroll
        for (int r = 0; r < F::rows; r++)
            old[r] = max[r];
        each<F>(s.at, [&](float &x, int r, int, int) { max[r] = fmaxf(max[r], x); });
#pragma unroll
        for (int r = 0; r < F::rows; r++) {
            max[r] = F::row_max(max[r]);
            shift[r] = max[r] * scale - F::lift;
            keep[r] = exp2_fast((old[r] - max[r]) * scale);
            for (float &part : sum[r])
                part *= keep[r];
        }
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

template <class F>
__device__ __forceinline__ void rescale(typename F::output &o, const float (&keep)[F::rows])
{
    each<F>(o.at, [&](float &x, int r, int, int) { x *= keep[r]; });
}
} // namespace v5
