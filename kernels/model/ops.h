// Everything of a llama model's forward pass but its matrix products and its attention over a prompt, as
// small kernels. Tensors are row-major and dense; rows that a comment calls `type` are of that type, all
// others of 32 bits. Widths are multiples of 4. Calls only enqueue, and throw struct failure when they
// cannot.
#pragma once

#include "attention/attention.h"
#include "model/seeded.h"

#include <cstdint>

// x[r] = table[ids[r]], from `type` to 32 bits.
void op_embed(float *x, const void *table, attn_dtype type, const uint32_t *ids, int rows, int width);

// x[r] += delta[r] (of `type`; null: nothing to add), then y[r] (of `type`) = x[r] / rms(x[r]) * weight.
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

// Takes rows [q | k | v] of `type` apart, turns pairs (2i, 2i+1) of the first `rope_dims` dims of every head
// of q and k by the angle of their position, and writes q, k and v as attention takes them, of `to_type`.
struct rope_args {
    void *q, *k, *v; // at the first row's place
    const void *qkv;
    const float2 *turns; // [position][rope_dims / 2]: cosine and sine, at the first row's position
    int rows, q_heads, kv_heads, head_dim, rope_dims;
    attn_dtype type, to_type;
};
void op_rope(const rope_args &args);

// y[r][i] = silu(gate) * up, from rows [gate | up]; all of `type`.
void op_swiglu(void *y, const void *gate_up, int rows, int ffn, attn_dtype type);

// From one type to another.
void op_convert(void *to, attn_dtype to_type, const void *from, attn_dtype from_type, size_t count);

// The first `count` numbers of a seeded tensor.
void op_seeded(void *to, attn_dtype type, const seeded_tensor &tensor, size_t count);

// The index of the largest of `count` numbers, the first of equals.
void op_argmax(uint32_t *id, const float *from, int count);

// Attention of one query over `keys` rows of a cache, for decoding: no variant takes fewer queries than keys.
// All of `type`; heads of 64 or 128 dims.
struct decode_args {
    void *o;
    const void *q, *k, *v;
    int keys, q_heads, kv_heads, head_dim;
    float scale;
    attn_dtype type;
};
void op_decode_attention(const decode_args &args);
