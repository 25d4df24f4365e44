// Row offsets within the tensors, for fp32 kernels.
#pragma once

#include "attention/attention.h"

struct f32_tensors {
    const float *q, *k, *v;
    float *o;
    int seq, q_heads, kv_heads;
    bool causal;
    float scale;

    explicit f32_tensors(const attn_args &args)
        : q(static_cast<const float *>(args.q)), k(static_cast<const float *>(args.k)),
          v(static_cast<const float *>(args.v)), o(static_cast<float *>(args.o)), seq(args.shape.seq),
          q_heads(args.shape.q_heads), kv_heads(args.shape.kv_heads), causal(args.shape.causal),
          scale(args.scale)
    {
    }

    __device__ int kv_head(int head) const
    {
        return head / (q_heads / kv_heads);
    }
    // The offset of a row of Q or O.
    __device__ size_t query(int batch, int row, int head, int head_dim) const
    {
        return ((static_cast<size_t>(batch) * seq + row) * q_heads + head) * head_dim;
    }
    // The offset of a row of K or V, by the query's head.
    __device__ size_t key(int batch, int row, int head, int head_dim) const
    {
        return ((static_cast<size_t>(batch) * seq + row) * kv_heads + kv_head(head)) * head_dim;
    }
    // The number of keys that the query at `row` sees.
    __device__ int keys_of(int row) const
    {
        return causal ? row + 1 : seq;
    }
    // The number of keys that at least one query of [first, first + count) sees.
    __device__ int keys_of_tile(int first, int count) const
    {
        return causal && first + count < seq ? first + count : seq;
    }
};

inline unsigned tiles(int count, int tile)
{
    return static_cast<unsigned>((count + tile - 1) / tile);
}
