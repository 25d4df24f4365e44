// OpenBLAS supports fp32 only: 16-bit inputs are widened first, the weights one strip of rows at a time.
#include "base/failure.h"
#include "base/numbers.h"
#include "model/gemm.h"

#include <cblas.h>
#include <vector>

namespace
{
constexpr int strip_rows = 256; // of weights

float widened(uint16_t bits, attn_dtype type)
{
    return type == ATTN_F16 ? f32_of_f16(bits) : f32_of_bf16(bits);
}

std::vector<float> widen(const uint16_t *from, size_t count, attn_dtype type)
{
    std::vector<float> to(count);
    for (size_t i = 0; i < count; i++)
        to[i] = widened(from[i], type);
    return to;
}

void multiply_f32(float *y, int y_stride, const float *x, const float *w, int rows, int out, int in)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, out, in, 1.0f, x, in, w, in, 0.0f, y,
                y_stride);
}

// Rounds fp32 to the type of y.
void narrow(void *to, attn_dtype type, const std::vector<float> &from)
{
    auto *bits = static_cast<uint16_t *>(to);
    for (size_t i = 0; i < from.size(); i++)
        bits[i] = type == ATTN_F16 ? f16_of_f32(from[i]) : bf16_of_f32(from[i]);
}
} // namespace

const char *gemm::library()
{
    return "OpenBLAS";
}

size_t gemm::workspace_bytes()
{
    return 0;
}

gemm::gemm(bool deterministic) : workspace_(0)
{
    if (deterministic)
        openblas_set_num_threads(1); // the order of summation depends on the thread count
}

gemm::~gemm() = default;

void gemm::multiply(void *y, attn_dtype y_type, const void *x, const void *w, attn_dtype type, int rows,
                    int out, int in)
{
    if (type == ATTN_F32) {
        multiply_f32(static_cast<float *>(y), out, static_cast<const float *>(x),
                     static_cast<const float *>(w), rows, out, in);
        return;
    }
    const std::vector<float> wide_x =
        widen(static_cast<const uint16_t *>(x), static_cast<size_t>(rows) * in, type);
    std::vector<float> narrowed(y_type == ATTN_F32 ? 0 : static_cast<size_t>(rows) * out);
    float *sums = y_type == ATTN_F32 ? static_cast<float *>(y) : narrowed.data();
    for (int first = 0; first < out; first += strip_rows) {
        const int count = out - first < strip_rows ? out - first : strip_rows;
        const auto *strip = static_cast<const uint16_t *>(w) + static_cast<size_t>(first) * in;
        const std::vector<float> wide_w = widen(strip, static_cast<size_t>(count) * in, type);
        multiply_f32(sums + first, out, wide_x.data(), wide_w.data(), rows, count, in);
    }
    if (y_type != ATTN_F32)
        narrow(y, y_type, narrowed);
}
