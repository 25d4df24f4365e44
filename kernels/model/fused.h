// GEMMs that include the step after them, for devices that have such kernels (Hopper). Elsewhere, and where a
// number of rows leaves too many SMs idle, fuses_*() is false: use class gemm and ops.h. If it is true for
// some number of rows, the fused product accepts any other number too. Throws struct failure when a launch
// fails.
#pragma once

#include "model/ops.h"

// The root mean squares that rows of x must still be divided by. fused_sum() leaves a row's sum of squares in
// parts: rms = sqrt(sum of parts / width + eps).
struct row_norms {
    const float *squares = nullptr; // [row_parts(width)][rows]; null: the rows are normalised
    int rows = 0, width = 0;
    float eps = 0.0f;
};
int row_parts(int width);

// y[r] = silu(x[r] G^T) * (x[r] U^T): x [rows, in], W = [G | U] [2 ffn, in], y [rows, ffn]; all of `type`.
bool fuses_gate_up(attn_dtype type, int rows, int ffn, int in);
void fused_gate_up(void *y, const void *x, const row_norms &norms, const void *gate_up, attn_dtype type,
                   int rows, int ffn, int in);

// Like op_rope(args), applied to the rows x W^T in place of args.qkv: x [rows, in], W = [q | k | v] of
// args.type. fuses_qkv() ignores the pointers.
bool fuses_qkv(const rope_args &args, int in);
void fused_qkv(const rope_args &args, const void *x, const row_norms &norms, const void *qkv, int in);

// stream[r] += x[r] W^T, then y[r] = stream[r] * weight, which must still be divided by the norms of
// `squares`. x [rows, in], W [width, in] and y [rows, width] are of bf16: other 16-bit types could overflow
// in y. y must not overlap x.
struct sum_args {
    void *y;
    float *stream;
    float *squares; // [row_parts(width)][rows]
    const float *weight;
    int rows, width;
};
bool fuses_sum(attn_dtype type, int rows, int width, int in);
void fused_sum(const sum_args &args, const void *x, const void *w, int in);
