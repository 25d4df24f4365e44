// Two floats side by side, for arithmetic that CDNA does on both in one instruction; elsewhere it is plain
// code.
#pragma once

#include "device/device.h"

#if defined(KS_PLATFORM_AMD)
typedef float ks_pair __attribute__((ext_vector_type(2)));
__device__ __forceinline__ ks_pair make_pair(float x, float y)
{
    return ks_pair{x, y};
}
__device__ __forceinline__ ks_pair multiply_add(ks_pair a, ks_pair b, ks_pair c)
{
    return a * b + c; // contracted
}
#else
using ks_pair = float2;
__device__ __forceinline__ ks_pair make_pair(float x, float y)
{
    return make_float2(x, y);
}
__device__ __forceinline__ ks_pair multiply_add(ks_pair a, ks_pair b, ks_pair c)
{
    return make_float2(a.x * b.x + c.x, a.y * b.y + c.y);
}
#endif

// 16 bytes of memory as two pairs.
struct ks_quad {
    ks_pair low, high;
};

__device__ __forceinline__ ks_quad load_quad(const float *from)
{
    const float4 x = *reinterpret_cast<const float4 *>(from);
    return {make_pair(x.x, x.y), make_pair(x.z, x.w)};
}

__device__ __forceinline__ void store_quad(float *to, ks_quad x)
{
    *reinterpret_cast<float4 *>(to) = make_float4(x.low.x, x.low.y, x.high.x, x.high.y);
}

// a * b + c, by element.
__device__ __forceinline__ ks_quad multiply_add(ks_quad a, ks_quad b, ks_quad c)
{
    return {multiply_add(a.low, b.low, c.low), multiply_add(a.high, b.high, c.high)};
}

__device__ __forceinline__ ks_quad scaled(ks_quad x, float factor)
{
    const ks_pair f = make_pair(factor, factor), zero = make_pair(0.0f, 0.0f);
    return {multiply_add(x.low, f, zero), multiply_add(x.high, f, zero)};
}
