// GEMMs that also do the step behind them, for devices that have such kernels (Hopper). Elsewhere, and where a
// number of rows leaves too many SMs idle, fuses_*() is false: use class gemm and ops.h. If it is true for
// some number of rows, the fused product also takes every other one. Throws struct failure when a launch
// fails.
#pragma once

#include "model/ops.h"

// y[r] = silu(x[r] G^T) * (x[r] U^T): x [rows, in], W = [G | U] [2 ffn, in], y [rows, ffn]; all of `type`.
bool fuses_gate_up(attn_dtype type, int rows, int ffn, int in);
void fused_gate_up(void *y, const void *x, const void *gate_up, attn_dtype type, int rows, int ffn, int in);

// What op_rope(args) does with the rows x W^T instead of args.qkv: x [rows, in], W = [q | k | v] of
// args.type. fuses_qkv() looks at no pointer.
bool fuses_qkv(const rope_args &args, int in);
void fused_qkv(const rope_args &args, const void *x, const void *qkv, int in);
