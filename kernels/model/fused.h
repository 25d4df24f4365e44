// GEMMs that also do the step behind them, for devices that have such kernels (Hopper). Elsewhere, and for
// shapes that they do not take, they enqueue nothing and return false: use class gemm and ops.h then. Throws
// struct failure when a launch fails.
#pragma once

#include "model/ops.h"

// y[r] = silu(x[r] G^T) * (x[r] U^T): x [rows, in], W = [G | U] [2 ffn, in], y [rows, ffn]; all of `type`.
bool fused_gate_up(void *y, const void *x, const void *gate_up, attn_dtype type, int rows, int ffn, int in);

// What op_rope(args) does with the rows x W^T instead of args.qkv: x [rows, in], W = [q | k | v] of
// args.type.
bool fused_qkv(const rope_args &args, const void *x, const void *qkv, int in);
