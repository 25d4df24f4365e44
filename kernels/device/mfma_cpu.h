// The CPU implementation of mfma.h and mfma32.h. The lanes of a wave exchange operands through a board in the
// block's shared memory; every lane takes part in every exchange of its wave, in the same order. Two boards
// alternate, because a lane may already write its next operands while others still read.
#pragma once

#include <cmath>
#include <cstring>

namespace mfma
{
constexpr int board_threads = 512;
constexpr int board_values = 8;
using board = float[board_threads / wave][board_values][wave];

// Publishes this lane's values and returns those of its wave, by value and lane.
inline const float (*exchange(const float *mine, int count))[wave]
{
    static thread_local board boards[2];
    static thread_local unsigned turns[board_threads];
    const unsigned thread = threadIdx.x;
    auto &now = boards[turns[thread]++ % 2][thread / wave];
    for (int i = 0; i < count; i++)
        now[i][lane()] = mine[i];
    ks_cpu_wide_wave(__FILE__, __LINE__);
    return now;
}

inline float from_lane_xor(float x, int mask)
{
    return exchange(&x, 1)[0][lane() ^ mask];
}

template <class WORD> void fetch(WORD &to, const uint16_t *base, uint32_t bytes, uint32_t offset)
{
    std::memset(&to, 0, sizeof to);
    if (offset < bytes)
        std::memcpy(&to, reinterpret_cast<const unsigned char *>(base) + offset, sizeof to);
}

inline void phase()
{
}

inline uint32_t low_halves(uint32_t first, uint32_t second)
{
    return (first & 0xffffu) | second << 16;
}

inline uint32_t high_halves(uint32_t first, uint32_t second)
{
    return first >> 16 | (second & 0xffff0000u);
}

inline uint32_t bits_of(float x)
{
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float float_of(uint32_t bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// 2^exponent, for what a normal float can hold. Tests convert millions of numbers; std::ldexp took a tenth of
// their time.
inline float power_of_two(int exponent)
{
    return float_of(static_cast<uint32_t>(exponent + 127) << 23);
}

inline float f32_of_f16(uint32_t bits)
{
    const int exponent = static_cast<int>(bits >> 10 & 31u);
    const int mantissa = static_cast<int>(bits & 1023u);
    const float magnitude = exponent == 31 ? (mantissa ? NAN : INFINITY)
                            : exponent == 0
                                ? static_cast<float>(mantissa) * power_of_two(-24)
                                : static_cast<float>(mantissa + 1024) * power_of_two(exponent - 25);
    return bits & 0x8000u ? -magnitude : magnitude;
}

// `round` is std::nearbyint or std::trunc. A mantissa rounded up to the next power of two carries into the
// exponent.
template <class ROUND> uint32_t f16_of_f32(float x, ROUND round)
{
    const uint32_t sign = std::signbit(x) ? 0x8000u : 0;
    const float magnitude = std::fabs(x);
    if (!(magnitude < 65520.0f))
        return sign | (magnitude >= 65520.0f ? 0x7c00u : 0x7e00u);
    const int own = static_cast<int>(bits_of(magnitude) >> 23) - 127;
    const int exponent = own < -14 ? -14 : own;
    const auto mantissa = static_cast<uint32_t>(round(magnitude * power_of_two(10 - exponent)));
    return sign | (mantissa + (static_cast<uint32_t>(exponent + 14) << 10));
}

inline uint32_t f16_nearest(float x)
{
    return f16_of_f32(x, [](float m) { return std::nearbyint(m); });
}

inline uint32_t f16_cut(float x)
{
    return f16_of_f32(x, [](float m) { return std::trunc(m); });
}

template <format FORMAT> float f32_of(uint32_t bits)
{
    if constexpr (FORMAT == format::f16)
        return f32_of_f16(bits);
    return float_of(bits << 16);
}

template <format FORMAT> uint32_t pack(float low, float high)
{
    if constexpr (FORMAT == format::f16)
        return f16_nearest(low) | f16_nearest(high) << 16;
    return high_halves(bits_of(low) + 0x8000u, bits_of(high) + 0x8000u);
}

template <format FORMAT> uint32_t cut(float low, float high)
{
    if constexpr (FORMAT == format::f16)
        return f16_cut(low) | f16_cut(high) << 16;
    return high_halves(bits_of(low), bits_of(high));
}

// Four rows of a column, side by side; the products of a row are still added one by one. As a value, which
// sanitizers need not check at every access.
using four = float __attribute__((vector_size(16)));

inline four load_four(const float *from)
{
    four loaded;
    std::memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

template <format FORMAT> void product(float (&c)[4], uint64_t a, uint64_t b)
{
    float mine[board_values];
    for (int i = 0; i < 4; i++) {
        mine[i] = f32_of<FORMAT>(static_cast<uint32_t>(a >> i * 16 & 0xffffu));
        mine[4 + i] = f32_of<FORMAT>(static_cast<uint32_t>(b >> i * 16 & 0xffffu));
    }
    const float(*all)[wave] = exchange(mine, board_values);
    const int column = lane() % 16, row = lane() / 16 * 4;
    four sum = load_four(c);
    for (int k = 0; k < 16; k++)
        sum += load_four(&all[k % 4][k / 4 * 16 + row]) * all[4 + k % 4][k / 4 * 16 + column];
    std::memcpy(c, &sum, sizeof sum);
}

// ---- mfma32.h ----
constexpr bool wide_products = false;
struct pair {
    float x[2];
    float operator[](int i) const
    {
        return x[i];
    }
};
struct sum32 {
    float x[16];
    float operator[](int i) const
    {
        return x[i];
    }
    float &operator[](int i)
    {
        return x[i];
    }
};
inline pair operator*(pair a, float b)
{
    return {{a[0] * b, a[1] * b}};
}
inline pair operator*(pair a, pair b)
{
    return {{a[0] * b[0], a[1] * b[1]}};
}
inline pair operator+(pair a, pair b)
{
    return {{a[0] + b[0], a[1] + b[1]}};
}

template <format FORMAT, int HALF> void product32(sum32 &c, const chunk &a, const chunk &b)
{
    float mine[board_values];
    for (int i = 0; i < 4; i++) {
        mine[i] = f32_of<FORMAT>(a[2 * HALF + i / 2] >> i % 2 * 16 & 0xffffu);
        mine[4 + i] = f32_of<FORMAT>(b[2 * HALF + i / 2] >> i % 2 * 16 & 0xffffu);
    }
    const float(*all)[wave] = exchange(mine, board_values);
    const int column = lane() % 32;
    for (int r = 0; r < 16; r += 4) {
        const int row = r / 4 * 8 + lane() / 32 * 4;
        four sum = load_four(&c[r]);
        for (int k = 0; k < 8; k++)
            sum += load_four(&all[k % 4][k / 4 * 32 + row]) * all[4 + k % 4][k / 4 * 32 + column];
        std::memcpy(&c[r], &sum, sizeof sum);
    }
}

template <format FORMAT> void product32_wide(sum32 &, const chunk &, const chunk &)
{
}

template <class T> void pin(T &)
{
}

inline void pin_uniform(int &)
{
}

// One call site, so that waves may meet in different places, as on the GPU.
inline void barrier()
{
    __syncthreads();
}

template <bool FIRST> void priority()
{
}

inline int uniform(int x)
{
    return x;
}
} // namespace mfma

inline float exp2_fast(float x)
{
    return std::exp2(x);
}
