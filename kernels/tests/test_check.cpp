// The checker, which must reject an output with a single wrong element, and the 16-bit formats.
#include "base/numbers.h"
#include "runner/check.h"
#include "tests/tap.h"

#include <cmath>

namespace
{
// Q is zero, so each query's output is the mean of the values it sees.
struct problem {
    attn_args args;
    tensors::host_copy host;
};

void put(std::vector<unsigned char> &data, size_t i, float x)
{
    std::memcpy(&data[i * sizeof x], &x, sizeof x);
}

problem mean_of_values()
{
    problem p{};
    p.args.shape = {1, 5, 2, 1, 64, true, ATTN_F32};
    p.args.scale = 0.125f;
    const size_t queries = query_elements(p.args.shape), keys = key_elements(p.args.shape);
    p.host.q.resize(4 * queries);
    p.host.k.resize(4 * keys);
    p.host.v.resize(4 * keys);
    p.host.o.resize(4 * (queries + 16));
    for (size_t i = 0; i < keys; i++) {
        put(p.host.k, i, 1.0f);
        put(p.host.v, i, static_cast<float>(i / 64 + 1));
    }
    for (size_t i = 0; i < queries; i++) // row r sees 1, ..., r + 1
        put(p.host.o, i, static_cast<float>(i / 128) / 2 + 1);
    for (size_t i = 0; i < 16; i++)
        std::memcpy(&p.host.o[4 * (queries + i)], &poison_word, 4);
    return p;
}

void expect(tap &t, const problem &p, const char *part, const char *name)
{
    const std::string wrong = check_output(p.args, p.host, 1).wrong;
    t.check(*part ? wrong.find(part) != std::string::npos : wrong.empty(), name, wrong);
}

void test_outputs(tap &t)
{
    problem p = mean_of_values();
    expect(t, p, "", "a correct output passes");
    p = mean_of_values();
    std::memcpy(&p.host.o[4 * 300], &poison_word, 4);
    expect(t, p, "1 elements were never written", "an element that was never written fails");
    p = mean_of_values();
    put(p.host.o, 639, NAN);
    expect(t, p, "NaN", "a NaN fails");
    p = mean_of_values();
    put(p.host.o, 0, INFINITY);
    expect(t, p, "infinite", "an infinity fails");
    p = mean_of_values();
    put(p.host.o, 640, 0.0f);
    expect(t, p, "after the end", "a write after the end fails");
    p = mean_of_values();
    put(p.host.o, 200, 1.01f);
    expect(t, p, "relative L2", "one element off by a percent fails");
    p = mean_of_values();
    put(p.host.o, 200, 1.50005f);
    expect(t, p, "largest error", "one element off by 5e-5 fails by the absolute bound");
    p = mean_of_values();
    p.args.shape.causal = false;
    expect(t, p, "relative L2", "the output of a causal mask fails without that mask");
}

// bf16 and no mask: every query sees 1, 1, 1 and `last`, so that its output is their mean; but for `odd`.
problem mean_in_bf16(float last, float mean, float odd)
{
    problem p{};
    p.args.shape = {1, 4, 2, 1, 64, false, ATTN_BF16};
    p.args.scale = 0.125f;
    const size_t queries = query_elements(p.args.shape), keys = key_elements(p.args.shape);
    const auto put_half = [](std::vector<unsigned char> &data, size_t i, float x) {
        const uint16_t half = bf16_of_f32(x);
        std::memcpy(&data[i * sizeof half], &half, sizeof half);
    };
    p.host.q.resize(2 * queries);
    p.host.k.resize(2 * keys);
    p.host.v.resize(2 * keys);
    p.host.o.resize(2 * (queries + 16));
    for (size_t i = 0; i < keys; i++)
        put_half(p.host.v, i, i / 64 == 3 ? last : 1.0f);
    for (size_t i = 0; i < queries; i++)
        put_half(p.host.o, i, i == 200 ? odd : mean);
    for (size_t i = 0; i < 16; i++)
        std::memcpy(&p.host.o[2 * (queries + i)], &poison_word, 2);
    return p;
}

void test_rounding(tap &t)
{
    constexpr float unit = 0x1p-7f; // of bf16, from 1 to 2
    // The mean lies a quarter of a unit above 1. Rounding it costs only that much here, up to half a unit
    // elsewhere.
    expect(t, mean_in_bf16(1 + unit, 1, 1 + unit), "",
           "one element a unit too large passes, if its value had to be rounded");
    expect(t, mean_in_bf16(1 + unit, 1, 1 + 2 * unit), "largest error",
           "one element two units too large fails");
    expect(t, mean_in_bf16(1, 1, 1 + unit), "largest error",
           "one element a unit too large fails, if its value needs no rounding");
}

void test_formats(tap &t)
{
    bool f16 = true, bf16 = true;
    for (unsigned half = 0; half < 0x10000; half++) {
        const auto h = static_cast<uint16_t>(half);
        const float x = f32_of_f16(h), y = f32_of_bf16(h);
        f16 = f16 && (std::isnan(x) || f16_of_f32(x) == h);
        bf16 = bf16 && (std::isnan(y) || bf16_of_f32(y) == h);
    }
    t.check(f16, "f16 to f32 and back is exact for all bit patterns");
    t.check(bf16, "bf16 to f32 and back is exact for all bit patterns");
    t.check(f16_of_f32(1.0f + 0x1p-11f) == 0x3c00 && f16_of_f32(1.0f + 0x1.8p-10f) == 0x3c02 &&
                f16_of_f32(65519.0f) == 0x7bff && f16_of_f32(65520.0f) == 0x7c00 &&
                f16_of_f32(0x1p-25f) == 0 && f16_of_f32(0x1.8p-25f) == 1 && f16_of_f32(-2.0f) == 0xc000,
            "f32 to f16 rounds to nearest even, overflows to infinity and underflows to zero");
    t.check(bf16_of_f32(1.0f + 0x1p-8f) == 0x3f80 && bf16_of_f32(1.0f + 0x1.8p-7f) == 0x3f82 &&
                std::isnan(f32_of_bf16(bf16_of_f32(NAN))) && std::isnan(f32_of_f16(f16_of_f32(NAN))),
            "f32 to bf16 rounds to nearest even, and NaN stays NaN in both formats");
}

void test_all(tap &t)
{
    test_formats(t);
    test_outputs(t);
    test_rounding(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("checker", test_all, argc, argv);
}
