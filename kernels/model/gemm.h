// Matrix products of a model, by the platform's library: cuBLAS, hipBLAS or OpenBLAS. Which one is the
// Makefile's choice; a build without one compiles, and says what to install when a product is asked for.
// y = x W^T, all row-major and dense: x [rows, in], W [out, in], y [rows, out]. Sums are in 32 bits whatever
// the inputs are. Knows nothing of models. Errors are thrown as struct failure.
#pragma once

#include "attention/attention.h"
#include "base/device_memory.h"

class gemm
{
  public:
    // Deterministic: the same inputs give the same bits, at some speed where the library has a choice.
    explicit gemm(bool deterministic);
    ~gemm();
    gemm(const gemm &) = delete;
    gemm &operator=(const gemm &) = delete;

    // x and W are of `type`; y is of `type` or of 32 bits.
    void multiply(void *y, attn_dtype y_type, const void *x, const void *w, attn_dtype type, int rows,
                  int out, int in);

    static const char *library();
    // Of device memory that a gemm takes for itself.
    static size_t workspace_bytes();

  private:
    device_memory workspace_;
    [[maybe_unused]] void *handle_ = nullptr; // the library's
};
