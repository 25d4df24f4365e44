// The kernels of a llama model's forward pass other than GEMM and prefill attention. Tensors are row-major
// and dense; where a comment says `type` the data have that type, elsewhere they are fp32. Widths are
// multiples of 4. Calls only enqueue work, and throw struct failure when a launch fails.
#pragma once

#include "attention/attention.h"
#include "model/seeded.h"

#include <cstdint>

// x[r] = table[ids[r]], from `type` to fp32.
void op_embed(float *x, const void *table, attn_dtype type, const uint32_t *ids, int rows, int width);

// x[r] += delta[r] (of `type`, may be null), then y[r] (of `type`) = x[r] / rms(x[r]) * weight.
struct norm_args {
    void *y;
    float *x;
    const void *delta;
    const float *weight;
    int rows, width;
    float eps;
    attn_dtype type;
};
void op_add_norm(const norm_args &args);

// Splits rows [q | k | v] of `type`, applies RoPE to the pairs (2i, 2i+1) of the first `rope_dims` dims of
// every head of q and k, and writes q, k and v in the attention's layout, of `to_type`.
struct rope_args {
    void *q, *k, *v; // pointing at the first row
    const void *qkv;
    const float2 *turns; // [position][rope_dims / 2]: cosine and sine, from the first row's position on
    int rows, q_heads, kv_heads, head_dim, rope_dims;
    attn_dtype type, to_type;
};
void op_rope(const rope_args &args);

// y[r][i] = silu(gate) * up, from rows [gate | up]; all of `type`.
void op_swiglu(void *y, const void *gate_up, int rows, int ffn, attn_dtype type);

// Converts between types.
void op_convert(void *to, attn_dtype to_type, const void *from, attn_dtype from_type, size_t count);

// Generates the first `count` numbers of a seeded tensor.
void op_seeded(void *to, attn_dtype type, const seeded_tensor &tensor, size_t count);

// The index of the largest of `count` numbers; the first one on a tie.
void op_argmax(uint32_t *id, const float *from, int count);

// Attention of one query over `keys` rows of the cache, for decoding, which no variant supports (they require
// as many queries as keys). All tensors are of `type`; heads have 64 or 128 dims.
struct decode_args {
    void *o;
    const void *q, *k, *v;
    int keys, q_heads, kv_heads, head_dim;
    float scale;
    attn_dtype type;
};
void op_decode_attention(const decode_args &args);
