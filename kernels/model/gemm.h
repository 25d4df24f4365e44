// GEMM by the platform's library: cuBLAS, hipBLAS or OpenBLAS, as the Makefile selects. A build without any
// of them compiles too, and constructing a gemm then fails with the package to install. y = x W^T, all
// row-major and dense: x [rows, in], W [out, in], y [rows, out]; accumulates in fp32 for every input type.
// Knows nothing of models. Throws struct failure.
#pragma once

#include "attention/attention.h"
#include "base/device_memory.h"

class gemm
{
  public:
    // Deterministic: the same inputs give the same bits, possibly at some cost in speed.
    explicit gemm(bool deterministic);
    ~gemm();
    gemm(const gemm &) = delete;
    gemm &operator=(const gemm &) = delete;

    // x and W are of `type`; y is of `type` or f32.
    void multiply(void *y, attn_dtype y_type, const void *x, const void *w, attn_dtype type, int rows,
                  int out, int in);

    static const char *library();
    // Device memory that a gemm allocates for itself.
    static size_t workspace_bytes();

  private:
    device_memory workspace_;
    [[maybe_unused]] void *handle_ = nullptr; // the library's
};
