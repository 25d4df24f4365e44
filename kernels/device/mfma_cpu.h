// The CPU implementation of mfma.h. Lanes exchange operands through a board in the block's shared memory;
// every thread of the block takes part in every exchange, in the same order. Two boards alternate, because a
// thread may already write its next operands while others still read.
#pragma once

#include <cmath>
#include <cstring>

namespace mfma
{
constexpr int board_threads = 256;
constexpr int board_values = 8;
using board = float[board_threads][board_values];

// Publishes this lane's values and returns those of its wave, one row per lane.
inline const float (*exchange(const float *mine, int count))[board_values]
{
    static thread_local board boards[2];
    static thread_local unsigned turns[board_threads];
    const unsigned thread = threadIdx.x;
    board &now = boards[turns[thread]++ % 2];
    std::memcpy(now[thread], mine, sizeof(float) * static_cast<size_t>(count));
    __syncthreads();
    return &now[thread / wave * wave];
}

inline float from_lane_xor(float x, int mask)
{
    return exchange(&x, 1)[lane() ^ mask][0];
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

inline float f32_of_f16(uint32_t bits)
{
    const int exponent = static_cast<int>(bits >> 10 & 31u);
    const int mantissa = static_cast<int>(bits & 1023u);
    const float magnitude = exponent == 31  ? (mantissa ? NAN : INFINITY)
                            : exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                            : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
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
    if (magnitude == 0.0f)
        return sign;
    const int exponent = std::ilogb(magnitude) < -14 ? -14 : std::ilogb(magnitude);
    const auto mantissa = static_cast<uint32_t>(round(std::ldexp(magnitude, 10 - exponent)));
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
    bits <<= 16;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

inline uint32_t bits_of(float x)
{
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
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

template <format FORMAT> void product(float (&c)[4], uint64_t a, uint64_t b)
{
    float mine[board_values];
    for (int i = 0; i < 4; i++) {
        mine[i] = f32_of<FORMAT>(static_cast<uint32_t>(a >> i * 16 & 0xffffu));
        mine[4 + i] = f32_of<FORMAT>(static_cast<uint32_t>(b >> i * 16 & 0xffffu));
    }
    const float(*lanes)[board_values] = exchange(mine, board_values);
    const int column = lane() % 16;
    for (int i = 0; i < 4; i++) {
        const int row = lane() / 16 * 4 + i;
        for (int k = 0; k < 16; k++)
            c[i] += lanes[k / 4 * 16 + row][k % 4] * lanes[k / 4 * 16 + column][4 + k % 4];
    }
}
} // namespace mfma

inline float exp2_fast(float x)
{
    return std::exp2(x);
}
