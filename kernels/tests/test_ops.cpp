// The kernels of a model's forward pass and its GEMMs, in every type, against plain loops in fp64 over the
// same, already rounded inputs.
#include "base/numbers.h"
#include "model/fused.h"
#include "model/gemm.h"
#include "model/ops.h"
#include "runner/tensors.h"
#include "tests/device_array.h"
#include "tests/tap.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace
{
using numbers = std::vector<double>;

constexpr attn_dtype all_types[] = {ATTN_F32, ATTN_F16, ATTN_BF16};

// Rounds a number to a type and returns its bits.
uint32_t to_bits(double x, attn_dtype type)
{
    const float f = static_cast<float>(x);
    return type == ATTN_F32 ? f32_bits(f) : type == ATTN_F16 ? f16_of_f32(f) : bf16_of_f32(f);
}

double of_bits(uint32_t bits, attn_dtype type)
{
    const auto half = static_cast<uint16_t>(bits);
    return type == ATTN_F32 ? f32_of_bits(bits) : type == ATTN_F16 ? f32_of_f16(half) : f32_of_bf16(half);
}

// Pseudo-random numbers from -2 to 2 that are exact in the type.
numbers some(size_t count, attn_dtype type, uint32_t seed)
{
    numbers values(count);
    for (double &value : values) {
        seed = seed * 1664525u + 1013904223u;
        value = of_bits(to_bits((seed >> 8) * (4.0 / (1 << 24)) - 2.0, type), type);
    }
    return values;
}

// A tensor on the device.
class tensor
{
  public:
    tensor(const numbers &values, attn_dtype type) : type_(type), memory_(encoded(values, type))
    {
    }
    // Filled with NaN, so that elements that a kernel does not write are found.
    static tensor unwritten(size_t count, attn_dtype type)
    {
        return tensor(numbers(count, NAN), type);
    }
    void *get() const
    {
        return memory_.get();
    }
    float *f32() const
    {
        return static_cast<float *>(get());
    }
    numbers host() const
    {
        const std::vector<unsigned char> bytes = memory_.host();
        numbers values(bytes.size() / dtype_bytes(type_));
        for (size_t i = 0; i < values.size(); i++) {
            uint32_t bits = 0;
            memcpy(&bits, bytes.data() + i * dtype_bytes(type_), dtype_bytes(type_));
            values[i] = of_bits(bits, type_);
        }
        return values;
    }

  private:
    static std::vector<unsigned char> encoded(const numbers &values, attn_dtype type)
    {
        std::vector<unsigned char> bytes(values.size() * dtype_bytes(type));
        for (size_t i = 0; i < values.size(); i++) {
            const uint32_t bits = to_bits(values[i], type);
            memcpy(bytes.data() + i * dtype_bytes(type), &bits, dtype_bytes(type));
        }
        return bytes;
    }

    attn_dtype type_;
    device_array<unsigned char> memory_;
};

// Half a unit in the last place of the type, plus the error of a few fp32 operations.
double tolerance(attn_dtype type)
{
    return type == ATTN_F32 ? 2e-6 : type == ATTN_F16 ? 6e-4 : 5e-3;
}

// Checks the largest difference, relative to the larger of 1 and the expected number.
void near(tap &t, const std::string &name, const numbers &got, const numbers &expected, attn_dtype type,
          double slack = 1)
{
    double worst = 0;
    for (size_t i = 0; i < expected.size(); i++) {
        const double off = std::fabs(got[i] - expected[i]) / std::max(1.0, std::fabs(expected[i]));
        worst = std::isfinite(off) ? std::max(worst, off) : INFINITY;
    }
    t.check(got.size() == expected.size() && worst <= slack * tolerance(type), name + " " + dtype_name(type),
            "off by " + std::to_string(worst));
}

void test_embed(tap &t, attn_dtype type)
{
    constexpr int width = 12;
    const std::vector<uint32_t> ids = {4, 0, 4, 2, 1};
    const numbers table = some(5 * width, type, 1);
    const tensor x = tensor::unwritten(ids.size() * width, ATTN_F32);
    op_embed(x.f32(), tensor(table, type).get(), type, device_array<uint32_t>(ids).get(), 5, width);
    numbers expected;
    for (const uint32_t id : ids)
        expected.insert(expected.end(), table.begin() + id * width, table.begin() + (id + 1) * width);
    near(t, "embed", x.host(), expected, type);
}

void test_add_norm(tap &t, attn_dtype type, int width, bool add)
{
    constexpr int rows = 3;
    constexpr double eps = 1e-5;
    numbers x = some(static_cast<size_t>(rows) * width, ATTN_F32, 2);
    const numbers delta = some(x.size(), type, 3), weight = some(width, ATTN_F32, 4);
    const tensor on_device(x, ATTN_F32), y = tensor::unwritten(x.size(), type), added(delta, type);
    const tensor by(weight, ATTN_F32);
    op_add_norm({y.get(), on_device.f32(), add ? added.get() : nullptr, by.f32(), rows, width, eps, type});
    numbers expected(x.size());
    for (int r = 0; r < rows; r++) {
        double squares = 0;
        for (int i = r * width; i < (r + 1) * width; i++) {
            x[i] += add ? delta[i] : 0;
            squares += x[i] * x[i];
        }
        for (int i = r * width; i < (r + 1) * width; i++)
            expected[i] = x[i] / std::sqrt(squares / width + eps) * weight[i - r * width];
    }
    const std::string name =
        "add_norm of " + std::to_string(width) + (add ? " with" : " without") + " a residual";
    near(t, name, y.host(), expected, type);
    near(t, name + ": the residual stream", on_device.host(), x, ATTN_F32);
}

struct rope_case {
    int rows, q_heads, kv_heads, head_dim, rope_dims;
};

void test_rope(tap &t, const rope_case &c, attn_dtype type, attn_dtype to_type)
{
    const int q_width = c.q_heads * c.head_dim, kv_width = c.kv_heads * c.head_dim;
    const int width = q_width + 2 * kv_width;
    const numbers qkv = some(static_cast<size_t>(c.rows) * width, type, 5);
    numbers turns, q, k, v;
    for (int r = 0; r < c.rows; r++) {
        for (int i = 0; i < c.rope_dims / 2; i++) {
            const double angle = (7 + r) * std::pow(10000.0, -2.0 * i / c.rope_dims);
            turns.push_back(std::cos(angle));
            turns.push_back(std::sin(angle));
        }
    }
    for (int r = 0; r < c.rows; r++) {
        for (int i = 0; i < width; i++) {
            numbers &to = i < q_width ? q : i < q_width + kv_width ? k : v;
            const int dim = i % c.head_dim, even = r * width + i / 2 * 2;
            const double *turn = &turns[(static_cast<size_t>(r) * (c.rope_dims / 2) + dim / 2) * 2];
            if (&to == &v || dim >= c.rope_dims)
                to.push_back(qkv[r * width + i]);
            else if (dim % 2 == 0)
                to.push_back(qkv[even] * turn[0] - qkv[even + 1] * turn[1]);
            else
                to.push_back(qkv[even] * turn[1] + qkv[even + 1] * turn[0]);
        }
    }
    const tensor from(qkv, type), angles(turns, ATTN_F32), to_q = tensor::unwritten(q.size(), to_type),
                                                           to_k = tensor::unwritten(k.size(), to_type),
                                                           to_v = tensor::unwritten(v.size(), to_type);
    op_rope({to_q.get(), to_k.get(), to_v.get(), from.get(), static_cast<const float2 *>(angles.get()),
             c.rows, c.q_heads, c.kv_heads, c.head_dim, c.rope_dims, type, to_type});
    const std::string name = "rope of " + std::to_string(c.q_heads) + "/" + std::to_string(c.kv_heads) +
                             " heads, " + std::to_string(c.rope_dims) + " dims, from " + dtype_name(type) +
                             ", ";
    near(t, name + "q", to_q.host(), q, to_type);
    near(t, name + "k", to_k.host(), k, to_type);
    near(t, name + "v", to_v.host(), v, to_type);
}

void test_swiglu(tap &t, attn_dtype type)
{
    constexpr int rows = 5, ffn = 20;
    const numbers both = some(rows * 2 * ffn, type, 6);
    const tensor y = tensor::unwritten(rows * ffn, type);
    op_swiglu(y.get(), tensor(both, type).get(), rows, ffn, type);
    numbers expected;
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < ffn; i++) {
            const double gate = both[r * 2 * ffn + i], up = both[r * 2 * ffn + ffn + i];
            expected.push_back(gate / (1 + std::exp(-gate)) * up);
        }
    }
    near(t, "swiglu", y.host(), expected, type);
}

void test_convert(tap &t, attn_dtype from, attn_dtype to)
{
    const numbers values = some(1000, from, 7);
    const tensor y = tensor::unwritten(values.size(), to);
    op_convert(y.get(), to, tensor(values, from).get(), from, values.size());
    near(t, std::string("convert from ") + dtype_name(from), y.host(), values, to);
}

void test_argmax(tap &t, const std::string &name, const numbers &values, uint32_t expected)
{
    const device_array<uint32_t> id({77});
    op_argmax(id.get(), tensor(values, ATTN_F32).f32(), static_cast<int>(values.size()));
    const uint32_t got = id.host().front();
    t.check(got == expected, "argmax: " + name, "got " + std::to_string(got));
}

void test_argmaxes(tap &t)
{
    numbers values(1000, -5);
    test_argmax(t, "all elements equal: the first", values, 0);
    values[999] = -4;
    test_argmax(t, "the last element is the largest", values, 999);
    values[300] = values[700] = 3;
    test_argmax(t, "two equal maxima: the first", values, 300);
    test_argmax(t, "a single element, -infinity", {-INFINITY}, 0);
}

void test_decode_attention(tap &t, int keys, int q_heads, int kv_heads, int head_dim, attn_dtype type)
{
    const size_t kv_width = static_cast<size_t>(kv_heads) * head_dim;
    const numbers q = some(static_cast<size_t>(q_heads) * head_dim, type, 8);
    const numbers k = some(keys * kv_width, type, 9), v = some(keys * kv_width, type, 10);
    const double scale = 1 / std::sqrt(head_dim);
    numbers expected;
    for (int h = 0; h < q_heads; h++) {
        const size_t at = static_cast<size_t>(h / (q_heads / kv_heads)) * head_dim;
        numbers weights(keys), o(head_dim);
        double sum = 0;
        for (int key = 0; key < keys; key++) {
            double dot = 0;
            for (int d = 0; d < head_dim; d++)
                dot += q[h * head_dim + d] * k[key * kv_width + at + d];
            sum += weights[key] = std::exp(dot * scale);
        }
        for (int key = 0; key < keys; key++) {
            for (int d = 0; d < head_dim; d++)
                o[d] += weights[key] / sum * v[key * kv_width + at + d];
        }
        expected.insert(expected.end(), o.begin(), o.end());
    }
    const tensor o = tensor::unwritten(expected.size(), type), on_q(q, type), on_k(k, type), on_v(v, type);
    op_decode_attention({o.get(), on_q.get(), on_k.get(), on_v.get(), keys, q_heads, kv_heads, head_dim,
                         static_cast<float>(scale), type});
    near(t,
         "decode_attention over " + std::to_string(keys) + " keys, " + std::to_string(q_heads) + "/" +
             std::to_string(kv_heads) + " heads of " + std::to_string(head_dim),
         o.host(), expected, type);
}

void test_gemm(tap &t, gemm &products, attn_dtype type, attn_dtype y_type, int rows, int out, int in)
{
    const numbers x = some(static_cast<size_t>(rows) * in, type, 11),
                  w = some(static_cast<size_t>(out) * in, type, 12);
    const tensor y = tensor::unwritten(static_cast<size_t>(rows) * out, y_type);
    products.multiply(y.get(), y_type, tensor(x, type).get(), tensor(w, type).get(), type, rows, out, in);
    numbers expected;
    for (int r = 0; r < rows; r++) {
        for (int n = 0; n < out; n++) {
            double sum = 0;
            for (int i = 0; i < in; i++)
                sum += x[static_cast<size_t>(r) * in + i] * w[static_cast<size_t>(n) * in + i];
            expected.push_back(sum);
        }
    }
    near(t,
         std::string("gemm of ") + dtype_name(type) + ", " + std::to_string(rows) + " x " +
             std::to_string(out) + " x " + std::to_string(in) + ", to",
         y.host(), expected, y_type, 10);
}

void test_gemms(tap &t)
{
    if (std::string(gemm::library()) == "none") {
        t.skip("every gemm", "built without a library for matrix products");
        return;
    }
    gemm products(true);
    for (const attn_dtype type : all_types) {
        for (const int rows : {1, 5, 130}) {
            test_gemm(t, products, type, type, rows, 300, 64);
            if (type != ATTN_F32)
                test_gemm(t, products, type, ATTN_F32, rows, 300, 64);
        }
    }
}

// The dot product of row r of x and row n of w.
double dot(const numbers &x, const numbers &w, size_t r, size_t n, size_t in)
{
    double sum = 0;
    for (size_t i = 0; i < in; i++)
        sum += x[r * in + i] * w[n * in + i];
    return sum;
}

// Fused products take large shapes only. Every 997th number is computed again here; all must be finite, since
// unwritten ones are NaN.
constexpr size_t sampled = 997;

void near_sampled(tap &t, const std::string &name, const numbers &got, attn_dtype type,
                  const std::function<double(size_t)> &expected, double slack = 10)
{
    numbers some_got, some_expected;
    for (size_t i = 0; i < got.size(); i++) {
        if (i % sampled == 0 || i + 1 == got.size() || !std::isfinite(got[i])) {
            some_got.push_back(got[i]);
            some_expected.push_back(expected(i));
        }
    }
    near(t, name, some_got, some_expected, type, slack);
}

// Norms that fused products divide rows by, in parts of some width.
class norms
{
  public:
    static constexpr int parts = 6;

    explicit norms(size_t rows) : rows_(rows), squares_(some(parts * rows, ATTN_F32, 18)), width_(1)
    {
        for (double &square : squares_)
            square = std::abs(square);
        while (row_parts(width_) < parts && width_ < 1 << 20)
            width_++;
        on_device_ = std::make_unique<tensor>(squares_, ATTN_F32);
    }
    row_norms args() const
    {
        return {on_device_->f32(), static_cast<int>(rows_), width_, eps};
    }
    double scale(size_t row) const
    {
        double sum = 0;
        for (int part = 0; part < parts; part++)
            sum += squares_[part * rows_ + row];
        return 1 / std::sqrt(sum / width_ + eps);
    }

  private:
    static constexpr float eps = 0.5f; // so that it counts, and that no f16 overflows
    size_t rows_;
    numbers squares_;
    int width_;
    std::unique_ptr<tensor> on_device_;
};

void test_fused_gate_up(tap &t, attn_dtype type, bool normalised)
{
    constexpr size_t rows = 601, ffn = 11144, in = 1032; // no multiples of a tile's
    const std::string name =
        std::string("fused gate_up of rows ") + (normalised ? "" : "not ") + "normalised";
    if (!fuses_gate_up(type, rows, ffn, in)) {
        t.skip(name + " " + dtype_name(type), "this device has no such kernel");
        return;
    }
    const tensor y = tensor::unwritten(rows * ffn, type);
    const numbers x = some(rows * in, type, 13), w = some(2 * ffn * in, type, 14);
    const norms by(rows);
    fused_gate_up(y.get(), tensor(x, type).get(), normalised ? row_norms{} : by.args(), tensor(w, type).get(),
                  type, rows, ffn, in);
    near_sampled(t, name, y.host(), type, [&](size_t i) {
        const double scale = normalised ? 1 : by.scale(i / ffn);
        const double gate = scale * dot(x, w, i / ffn, i % ffn, in),
                     up = scale * dot(x, w, i / ffn, ffn + i % ffn, in);
        return gate / (1 + std::exp(-gate)) * up;
    });
}

void test_fused_qkv(tap &t, const rope_case &c, attn_dtype type, bool normalised)
{
    constexpr size_t in = 136;
    const size_t q_width = static_cast<size_t>(c.q_heads) * c.head_dim,
                 kv_width = static_cast<size_t>(c.kv_heads) * c.head_dim, rows = static_cast<size_t>(c.rows),
                 pairs = static_cast<size_t>(c.rope_dims) / 2;
    const std::string name = "fused qkv of " + std::to_string(c.q_heads) + "/" + std::to_string(c.kv_heads) +
                             " heads, " + std::to_string(c.rope_dims) + " dims turned" +
                             (normalised ? "" : ", of rows not normalised");
    const numbers x = some(rows * in, type, 15), w = some((q_width + 2 * kv_width) * in, type, 16);
    const numbers turns = some(rows * pairs * 2, ATTN_F32, 17);
    const tensor q = tensor::unwritten(rows * q_width, type), k = tensor::unwritten(rows * kv_width, type),
                 v = tensor::unwritten(rows * kv_width, type), angles(turns, ATTN_F32);
    const rope_args args{
        q.get(), k.get(),   v.get(),    nullptr,    static_cast<const float2 *>(angles.get()),
        c.rows,  c.q_heads, c.kv_heads, c.head_dim, c.rope_dims,
        type,    type};
    if (!fuses_qkv(args, in)) {
        t.skip(name + " " + dtype_name(type), "this device has no such kernel");
        return;
    }
    const norms by(rows);
    fused_qkv(args, tensor(x, type).get(), normalised ? row_norms{} : by.args(), tensor(w, type).get(), in);
    const auto product = [&](size_t row, size_t column) {
        return (normalised ? 1 : by.scale(row)) * dot(x, w, row, column, in);
    };
    const auto turned = [&](size_t i, size_t width, size_t first) {
        const size_t row = i / width, dim = i % width % c.head_dim, even = first + i % width / 2 * 2;
        if (dim >= 2 * pairs)
            return product(row, first + i % width);
        const double a = product(row, even), b = product(row, even + 1);
        const double *turn = &turns[(row * pairs + dim / 2) * 2];
        return dim % 2 == 0 ? a * turn[0] - b * turn[1] : a * turn[1] + b * turn[0];
    };
    near_sampled(t, name + ", q", q.host(), type, [&](size_t i) { return turned(i, q_width, 0); });
    near_sampled(t, name + ", k", k.host(), type, [&](size_t i) { return turned(i, kv_width, q_width); });
    near_sampled(t, name + ", v", v.host(), type,
                 [&](size_t i) { return product(i / kv_width, q_width + kv_width + i % kv_width); });
}

// `in`: of more and of fewer steps than those in which the stream is loaded ahead.
void test_fused_sum(tap &t, size_t in)
{
    constexpr size_t rows = 1030, width = 3328;
    const std::string name = "fused sum of products of " + std::to_string(in);
    if (!fuses_sum(ATTN_BF16, rows, width, static_cast<int>(in))) {
        t.skip(name, "this device has no such kernel");
        return;
    }
    const numbers x = some(rows * in, ATTN_BF16, 19), w = some(width * in, ATTN_BF16, 20),
                  before = some(rows * width, ATTN_F32, 21), weight = some(width, ATTN_F32, 22);
    const tensor y = tensor::unwritten(rows * width, ATTN_BF16), stream(before, ATTN_F32);
    const size_t parts = static_cast<size_t>(row_parts(width));
    const tensor squares = tensor::unwritten(parts * rows, ATTN_F32);
    fused_sum({y.get(), stream.f32(), squares.f32(), tensor(weight, ATTN_F32).f32(), rows, width},
              tensor(x, ATTN_BF16).get(), tensor(w, ATTN_BF16).get(), static_cast<int>(in));
    const numbers after = stream.host();
    near_sampled(t, name + ", the stream", after, ATTN_BF16,
                 [&](size_t i) { return before[i] + dot(x, w, i / width, i % width, in); });
    near_sampled(t, name + ", weighted", y.host(), ATTN_BF16,
                 [&](size_t i) { return after[i] * weight[i % width]; });
    numbers expected(parts * rows);
    for (size_t i = 0; i < after.size(); i++)
        expected[i % width / (width / parts) * rows + i / width] += after[i] * after[i];
    near(t, name + ", squares", squares.host(), expected, ATTN_F32, 10);
}

void test_fused(tap &t)
{
    for (const attn_dtype type : {ATTN_F16, ATTN_BF16}) {
        for (const bool normalised : {true, false}) {
            test_fused_gate_up(t, type, normalised);
            test_fused_qkv(t, {2700, 32, 8, 128, 128}, type, normalised);
            test_fused_qkv(t, {2700, 66, 2, 64, 32}, type, normalised); // an odd number of halves
        }
    }
    test_fused_sum(t, 136);
    test_fused_sum(t, 4200);
}

void test_all(tap &t)
{
    for (const attn_dtype type : all_types) {
        test_embed(t, type);
        for (const int width : {4, 64, 2052}) {
            test_add_norm(t, type, width, false);
            test_add_norm(t, type, width, true);
        }
        for (const attn_dtype to : all_types) {
            test_rope(t, {3, 4, 2, 64, 64}, type, to);
            test_convert(t, type, to);
        }
        test_rope(t, {2, 2, 1, 128, 32}, type, type);
        test_swiglu(t, type);
        for (const int keys : {1, 15, 16, 17, 100}) {
            test_decode_attention(t, keys, 4, 2, 64, type);
            test_decode_attention(t, keys, 3, 1, 128, type);
        }
    }
    test_argmaxes(t);
    test_gemms(t);
    test_fused(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("ops", test_all, argc, argv);
}
