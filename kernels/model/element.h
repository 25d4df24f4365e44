// Typed access to tensors in kernels: four elements at a time, converted to and from fp32.
#pragma once

#include "attention/dtype.h"
#include "base/numbers.h"

#include <type_traits>

struct alignas(8) four_halves {
    uint16_t at[4];
};

template <attn_dtype TYPE> struct element;

template <> struct element<ATTN_F32> {
    using type = float;
    __device__ static float4 load4(const float *from)
    {
        return *reinterpret_cast<const float4 *>(from);
    }
    __device__ static void store4(float *to, float4 x)
    {
        *reinterpret_cast<float4 *>(to) = x;
    }
};

template <> struct element<ATTN_F16> {
    using type = uint16_t;
    __device__ static float4 load4(const uint16_t *from)
    {
        const four_halves x = *reinterpret_cast<const four_halves *>(from);
        return make_float4(f32_of_f16(x.at[0]), f32_of_f16(x.at[1]), f32_of_f16(x.at[2]),
                           f32_of_f16(x.at[3]));
    }
    __device__ static void store4(uint16_t *to, float4 x)
    {
        *reinterpret_cast<four_halves *>(to) = {
            {f16_of_f32(x.x), f16_of_f32(x.y), f16_of_f32(x.z), f16_of_f32(x.w)}};
    }
};

template <> struct element<ATTN_BF16> {
    using type = uint16_t;
    __device__ static float4 load4(const uint16_t *from)
    {
        const four_halves x = *reinterpret_cast<const four_halves *>(from);
        return make_float4(f32_of_bf16(x.at[0]), f32_of_bf16(x.at[1]), f32_of_bf16(x.at[2]),
                           f32_of_bf16(x.at[3]));
    }
    __device__ static void store4(uint16_t *to, float4 x)
    {
        *reinterpret_cast<four_halves *>(to) = {
            {bf16_of_f32(x.x), bf16_of_f32(x.y), bf16_of_f32(x.z), bf16_of_f32(x.w)}};
    }
};

// Calls f(element<TYPE>()) for the run-time `type`.
template <class F> void choose_element(attn_dtype type, F f)
{
    switch (type) {
    case ATTN_F32:
        return f(element<ATTN_F32>());
    case ATTN_F16:
        return f(element<ATTN_F16>());
    case ATTN_BF16:
        return f(element<ATTN_BF16>());
    }
}
