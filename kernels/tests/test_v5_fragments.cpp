// v5's fragments, one product at a time: the lane layout of scores and outputs, complete tiles in shared
// memory, and rows beyond the sequence. On the CPU this tests the index maps of the CDNA fragment against
// AMD's documented operand layout, which device/mfma_cpu.h implements.
#include "base/numbers.h"
#include "device/fragment.h"
#include "tests/device_array.h"
#include "tests/tap.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace
{
// S, and O = S V, of one tile of keys, stored by the fragment's own index maps.
template <class F>
__global__ void multiply_once(head_rows q, head_rows k, head_rows v, int tile, float *s_out, float *o_out)
{
    HIP_DYNAMIC_SHARED(chunk, lds)
    typename F::loader tiles(lds, q, 0, k, v);
    typename F::scores s;
    typename F::output o = {};
    tiles.begin(tile);
    tiles.arrive();
    F::score(s, tiles);
    const int wave_query = static_cast<int>(threadIdx.x) / F::wave * F::queries;
    constexpr int I = sizeof s.at / sizeof s.at[0];
    constexpr int J = sizeof s.at[0] / sizeof s.at[0][0];
    for (int i = 0; i < I; i++)
        for (int j = 0; j < J; j++)
            for (int e = 0; e < 4; e++)
                s_out[(wave_query + F::query(F::row(i, e))) * F::keys + F::key(j, e)] += s.at[i][j][e];
    F::accumulate(o, s, tiles);
    uint16_t *halves = reinterpret_cast<uint16_t *>(o_out);
    for (int r = 0; r < F::rows; r++)
        F::store(halves + (wave_query + F::query(r)) * F::head_dim, o, r, 1.0f);
}

struct rounded {
    std::vector<uint16_t> bits;
    std::vector<float> value;
};

template <format FORMAT> uint16_t to_bits(float x)
{
    return FORMAT == format::f16 ? f16_of_f32(x) : bf16_of_f32(x);
}

template <format FORMAT> float of_bits(uint16_t x)
{
    return FORMAT == format::f16 ? f32_of_f16(x) : f32_of_bf16(x);
}

template <format FORMAT> rounded random_rows(int rows, int head_dim, unsigned seed, float low)
{
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(low, 1.0f);
    rounded r;
    for (int i = 0; i < rows * head_dim; i++) {
        r.bits.push_back(to_bits<FORMAT>(uniform(random)));
        r.value.push_back(of_bits<FORMAT>(r.bits.back()));
    }
    return r;
}

float dot(const float *a, const float *b, int count, int step)
{
    float sum = 0.0f;
    for (int i = 0; i < count; i++)
        sum += a[i] * b[i * step];
    return sum;
}

// Loads the tile at `tile` of a sequence of `rows` keys. All numbers are positive, so that P is rounded as in
// use.
template <format FORMAT, int HEAD_DIM> void test_products(tap &t, int rows, int tile)
{
    using F = fragment<FORMAT, HEAD_DIM>;
    const rounded q = random_rows<FORMAT>(F::block_queries, HEAD_DIM, 1, 0.0f);
    const rounded k = random_rows<FORMAT>(rows, HEAD_DIM, 2, 0.0f);
    const rounded v = random_rows<FORMAT>(rows, HEAD_DIM, 3, 0.5f);
    const device_array<uint16_t> dq(q.bits), dk(k.bits), dv(v.bits);
    std::vector<float> s(static_cast<size_t>(F::block_queries * F::keys), 0.0f);
    std::vector<float> o(static_cast<size_t>(F::block_queries * HEAD_DIM / 2), 0.0f);
    const device_array<float> ds(s), d_o(o);
    const uint32_t stride = HEAD_DIM;
    const head_rows hq{dq.get(), stride, F::block_queries}, hk{dk.get(), stride, rows},
        hv{dv.get(), stride, rows};
    hip_check(hipFuncSetAttribute(reinterpret_cast<const void *>(multiply_once<F>),
                                  hipFuncAttributeMaxDynamicSharedMemorySize, F::shared_bytes),
              "cannot reserve LDS");
    hipLaunchKernelGGL(multiply_once<F>, dim3(1), dim3(F::threads), F::shared_bytes, nullptr, hq, hk, hv,
                       tile, ds.get(), d_o.get());
    hip_check(hipGetLastError(), "cannot launch");
    s = ds.host();
    o = d_o.host();

    const int first = tile * F::keys;
    const int exist = rows - first < F::keys ? rows - first : F::keys;
    float worst_s = 0.0f, worst_o = 0.0f;
    std::vector<uint16_t> halves(o.size() * 2);
    std::memcpy(halves.data(), o.data(), o.size() * sizeof(float));
    for (int i = 0; i < F::block_queries; i++) {
        std::vector<float> p(static_cast<size_t>(exist));
        for (int j = 0; j < exist; j++) {
            p[static_cast<size_t>(j)] =
                dot(&q.value[static_cast<size_t>(i * HEAD_DIM)],
                    &k.value[static_cast<size_t>((first + j) * HEAD_DIM)], HEAD_DIM, 1);
            const float got = s[static_cast<size_t>(i * F::keys + j)];
            worst_s = std::fmax(worst_s, std::fabs(got / p[static_cast<size_t>(j)] - 1.0f));
        }
        for (int d = 0; exist == F::keys && d < HEAD_DIM; d++) {
            const float want =
                dot(p.data(), &v.value[static_cast<size_t>(first * HEAD_DIM + d)], exist, HEAD_DIM);
            const float got = of_bits<FORMAT>(halves[static_cast<size_t>(i * HEAD_DIM + d)]);
            worst_o = std::fmax(worst_o, std::fabs(got / want - 1.0f));
        }
    }
    const std::string name = std::string(FORMAT == format::f16 ? "f16" : "bf16") +
                             " D=" + std::to_string(HEAD_DIM) + " keys=" + std::to_string(rows) + " tile " +
                             std::to_string(tile);
    t.check(worst_s < 1e-5f, name + ": S = Q K^T", "relative error " + std::to_string(worst_s));
    // Truncation of P is biased as long as F::lift is not applied, and nothing here does.
    const float rounding = FORMAT == format::f16 ? 1.0f / 1024 : 1.0f / 128;
    if (exist == F::keys)
        t.check(worst_o < 2 * rounding, name + ": O = P V", "relative error " + std::to_string(worst_o));
}

template <format FORMAT, int HEAD_DIM> void test_fragment(tap &t)
{
    constexpr int keys = fragment<FORMAT, HEAD_DIM>::keys;
    test_products<FORMAT, HEAD_DIM>(t, keys, 0);
    test_products<FORMAT, HEAD_DIM>(t, 2 * keys + 3, 1);
    test_products<FORMAT, HEAD_DIM>(t, keys + 1, 1);
    test_products<FORMAT, HEAD_DIM>(t, keys + keys / 2 + 5, 1);
}

void test_all(tap &t)
{
    test_fragment<format::f16, 64>(t);
    test_fragment<format::f16, 128>(t);
    test_fragment<format::bf16, 64>(t);
    test_fragment<format::bf16, 128>(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("v5 fragments", test_all, argc, argv);
}
