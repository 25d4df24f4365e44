// Pairs of floats: packed fp32 instructions on CDNA (v_pk_fma_f32), plain code elsewhere.
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
__device__ __forceinline__ ks_pair scaled(ks_pair x, float factor)
{
    return x * factor;
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
__device__ __forceinline__ ks_pair scaled(ks_pair x, float factor)
{
    return make_float2(x.x * factor, x.y * factor);
}
#endif

// 16 bytes of memory.
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

// x * factor + c, by element.
__device__ __forceinline__ ks_quad multiply_add(ks_quad x, float factor, ks_quad c)
{
    const ks_pair f = make_pair(factor, factor);
    return {multiply_add(x.low, f, c.low), multiply_add(x.high, f, c.high)};
}

__device__ __forceinline__ ks_quad scaled(ks_quad x, float factor)
{
    return {scaled(x.low, factor), scaled(x.high, factor)};
}

// A running dot product. With packed instructions two partial sums cost no more than one.
struct ks_dot {
#if defined(KS_PLATFORM_AMD)
    ks_pair sum = make_pair(0.0f, 0.0f);
    __device__ __forceinline__ void add(ks_quad a, ks_quad b)
    {
        sum = multiply_add(a.high, b.high, multiply_add(a.low, b.low, sum));
    }
    __device__ __forceinline__ float total() const
    {
        return sum.x + sum.y;
    }
#else
    float sum = 0.0f;
    __device__ __forceinline__ void add(ks_quad a, ks_quad b)
    {
        sum += a.low.x * b.low.x;
        sum += a.low.y * b.low.y;
        sum += a.high.x * b.high.x;
        sum += a.high.y * b.high.y;
    }
    __device__ __forceinline__ float total() const
    {
        return sum;
    }
#endif
};
