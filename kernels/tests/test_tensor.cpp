// Tensor encodings against values derived by hand from the format's specification; presets and seeded
// weights.
#include "base/failure.h"
#include "model/seeded.h"
#include "model/shape.h"
#include "tests/tap.h"

#include <set>

namespace
{
using bytes = std::vector<unsigned char>;

std::vector<float> decode(tensor_type type, const bytes &data, uint64_t rows, uint64_t cols, uint64_t from,
                          uint64_t n)
{
    std::vector<float> out(n * cols, NAN);
    tensor_to_f32({data.data(), type, rows, cols}, from, n, out.data());
    return out;
}

void test_plain(tap &t)
{
    const bytes f32 = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0, 0x3f, 0, 0, 0x80, 0xbe};
    t.check(decode(TENSOR_F32, f32, 2, 2, 1, 1) == std::vector<float>{0.5f, -0.25f},
            "F32 decodes the second row of two");
    const bytes f16 = {0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0x01, 0x00};
    t.check(decode(TENSOR_F16, f16, 1, 4, 0, 1) == std::vector<float>{1, -2, 65504, 0x1p-24f},
            "F16 decodes normal, largest and subnormal numbers");
    const bytes bf16 = {0x80, 0x3f, 0x00, 0xc0, 0x49, 0x40};
    t.check(decode(TENSOR_BF16, bf16, 1, 3, 0, 1) == std::vector<float>{1, -2, 3.140625f}, "BF16 decodes");
}

void test_q8_0(tap &t)
{
    bytes data(2 * 34); // one block per row; scales 0.5 and -2
    data[1] = 0x38;
    data[2] = 127;
    data[2 + 31] = 0x80;
    data[34 + 1] = 0xc0;
    data[34 + 2 + 5] = 3;
    const std::vector<float> out = decode(TENSOR_Q8_0, data, 2, 32, 0, 2);
    t.check(out[0] == 63.5f && out[1] == 0 && out[31] == -64 && out[32] == 0 && out[37] == -6,
            "Q8_0 decodes a scale and 32 signed bytes per block");
    t.check(tensor_row_bytes(TENSOR_Q8_0, 4096) == 4352, "Q8_0 takes 34 bytes per 32 elements");
}

void test_q4_0(tap &t)
{
    bytes data(18, 0x88); // 8 is zero
    data[0] = 0x00;
    data[1] = 0x40; // 2
    data[2] = 0xf0;
    data[17] = 0x1a;
    const std::vector<float> out = decode(TENSOR_Q4_0, data, 1, 32, 0, 1);
    t.check(out[0] == -16 && out[16] == 14 && out[1] == 0 && out[17] == 0 && out[15] == 4 && out[31] == -14,
            "Q4_0 decodes low nibbles as elements 0 to 15, high nibbles as 16 to 31");
    t.check(tensor_row_bytes(TENSOR_Q4_0, 4096) == 2304, "Q4_0 takes 18 bytes per 32 elements");
}

// The largest error after encoding and decoding 64 numbers, relative to the block's extreme.
float round_trip(tensor_type type)
{
    std::vector<float> in(64), out(64);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (i < 32 ? 1.0f : 0.125f) * std::sin(static_cast<float>(i * i));
    bytes data(tensor_row_bytes(type, 64));
    tensor_row_of_f32(type, in.data(), 64, data.data());
    tensor_to_f32({data.data(), type, 1, 64}, 0, 1, out.data());
    float worst = 0;
    for (size_t i = 0; i < in.size(); i++)
        worst = std::fmax(worst, std::fabs(out[i] - in[i]) / (i < 32 ? 1.0f : 0.125f));
    return worst;
}

void test_encoding(tap &t)
{
    t.check(round_trip(TENSOR_F32) == 0, "F32: encoding is exact");
    t.check(round_trip(TENSOR_F16) <= 0x1p-11f && round_trip(TENSOR_F16) > 0,
            "F16: encoding errs by at most half a unit");
    t.check(round_trip(TENSOR_BF16) <= 0x1p-8f && round_trip(TENSOR_BF16) > 0x1p-11f,
            "BF16: encoding errs by at most half a unit");
    t.check(round_trip(TENSOR_Q8_0) <= 0.5f / 127 * 1.01f + 0x1p-11f && round_trip(TENSOR_Q8_0) > 0,
            "Q8_0: encoding errs by at most half a step");
    t.check(round_trip(TENSOR_Q4_0) <= 1.0f / 8 * 1.01f && round_trip(TENSOR_Q4_0) > 0,
            "Q4_0: encoding errs by at most one step");
    const std::vector<float> zero(32, 0.0f);
    bytes data(34, 0xff);
    tensor_row_of_f32(TENSOR_Q8_0, zero.data(), 32, data.data());
    t.check(decode(TENSOR_Q8_0, data, 1, 32, 0, 1) == zero,
            "Q8_0: a block of zeros encodes and decodes exactly");
}

void test_presets(tap &t)
{
    for (const char *name : {"tiny", "small", "llama2-7b"}) {
        model_shape shape{};
        const bool found = preset_shape(name, &shape);
        bool blocks = true;
        for (const tensor_spec &spec : tensor_specs(shape))
            blocks = blocks && (role_is_norm(spec.role) || spec.cols % quant_block == 0);
        t.check(found && shape_problem(shape).empty() && blocks &&
                    (shape.head_dim == 64 || shape.head_dim == 128),
                std::string(name) + ": the preset is a valid shape that every variant supports",
                shape_problem(shape));
    }
    model_shape shape{};
    t.check(!preset_shape("huge", &shape), "an unknown preset is not found");
    preset_shape("llama2-7b", &shape);
    uint64_t weights = 0;
    std::set<std::string> names;
    for (const tensor_spec &spec : tensor_specs(shape)) {
        weights += spec.rows * spec.cols;
        names.insert(tensor_name(spec));
    }
    t.check(weights == 6738415616u, "llama2-7b: the preset has as many weights as Llama-2-7B",
            std::to_string(weights));
    t.check(names.size() == 291 && names.count("blk.31.ffn_gate.weight") && names.count("token_embd.weight"),
            "llama2-7b: the preset has 291 tensors with GGUF's names");
    shape.kv_heads = 5;
    t.check(shape_problem(shape) == "32 heads cannot share 5 KV heads",
            "shape_problem() names heads that are no multiple of the KV heads");
}

void test_tensor_places(tap &t)
{
    model_shape shape{};
    preset_shape("tiny", &shape);
    model_tensors tensors{};
    tensors.layers.resize(shape.layers);
    for (const tensor_spec &spec : tensor_specs(shape))
        tensor_at(tensors, spec) = {nullptr, TENSOR_F32, spec.rows, spec.cols};
    const layer_tensors &last = tensors.layers[1];
    t.check(tensors.embedding.rows == 1024 && tensors.output.cols == 256 && tensors.output_norm.rows == 1 &&
                last.wq.rows == 256 && last.wk.rows == 128 && last.wv.cols == 256 && last.wo.cols == 256 &&
                last.gate.rows == 704 && last.up.cols == 256 && last.down.cols == 704 &&
                last.ffn_norm.cols == 256,
            "tensor_at() maps every tensor to its member");
}

void test_seeds(tap &t)
{
    model_shape shape{};
    preset_shape("tiny", &shape);
    const tensor_spec down{ROLE_DOWN, 1, 256, 704}, norm{ROLE_FFN_NORM, 1, 1, 256};
    const seeded_tensor a = seeded_weights(down, shape, 1), b = seeded_weights(down, shape, 2);
    const seeded_tensor other = seeded_weights({ROLE_DOWN, 0, 256, 704}, shape, 1);
    double sum = 0, squares = 0, differ = 0;
    const uint64_t n = down.rows * down.cols;
    for (uint64_t i = 0; i < n; i++) {
        const double x = seeded_value(a, i);
        sum += x;
        squares += x * x;
        differ += seeded_value(b, i) != seeded_value(a, i) && seeded_value(other, i) != seeded_value(a, i);
    }
    const double count = static_cast<double>(n), wanted = 1 / std::sqrt(704.0 * 4);
    t.check(std::fabs(std::sqrt(squares / count) / wanted - 1) < 0.04 &&
                std::fabs(sum / count) < wanted / 100,
            "seeded weights have the expected deviation and zero mean");
    t.check(differ / count > 0.999, "another seed or layer gives another matrix");
    t.check(seeded_value(a, 0) == seeded_value(seeded_weights(down, shape, 1), 0),
            "the same seed gives the same matrix");
    float least = 2, most = 0;
    for (uint64_t i = 0; i < norm.cols; i++) {
        const float x = seeded_value(seeded_weights(norm, shape, 1), i);
        least = std::fmin(least, x);
        most = std::fmax(most, x);
    }
    t.check(least > 0.6f && least < 0.9f && most > 1.1f && most < 1.4f, "seeded norm factors vary around 1");
}

void test_all(tap &t)
{
    test_plain(t);
    test_q8_0(t);
    test_q4_0(t);
    test_encoding(t);
    test_presets(t);
    test_tensor_places(t);
    test_seeds(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("tensors", test_all, argc, argv);
}
