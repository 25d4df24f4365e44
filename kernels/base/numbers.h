// Conversions that host, GPU and CPU device must compute identically, by integer arithmetic: the 16-bit
// formats (rounded to nearest even), and the hash behind all seeded numbers.
#pragma once

#include "device/device.h"

#include <cstdint>
#include <cstring>

__host__ __device__ inline uint32_t f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

__host__ __device__ inline float f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

__host__ __device__ inline uint16_t bf16_of_f32(float x)
{
    const uint32_t bits = f32_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return static_cast<uint16_t>(bits >> 16 | 0x40u);
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

__host__ __device__ inline float f32_of_bf16(uint16_t half)
{
    return f32_of_bits(static_cast<uint32_t>(half) << 16);
}

__host__ __device__ inline uint16_t f16_of_f32(float x)
{
    const uint32_t bits = f32_bits(x);
    const uint32_t sign = bits >> 16 & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return static_cast<uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) // rounds to 65536 or more
        return static_cast<uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) { // subnormal: adding 0.5 shifts and rounds the mantissa into place
        const uint32_t shifted = f32_bits(f32_of_bits(magnitude) + 0.5f) - 0x3f000000u;
        return static_cast<uint16_t>(sign | shifted);
    }
    const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<uint16_t>(sign | (rounded - 0x38000000u) >> 13);
}

__host__ __device__ inline float f32_of_f16(uint16_t half)
{
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
    const uint32_t magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u)
        return f32_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude < 0x400u) // subnormal: units of 2^-24
        return f32_of_bits(sign | f32_bits(static_cast<float>(magnitude) * 5.9604644775390625e-8f));
    return f32_of_bits(sign | ((magnitude << 13) + 0x38000000u));
}

// splitmix64 of a counter, so that numbers can be generated in any order.
__host__ __device__ inline uint64_t seeded_hash(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
