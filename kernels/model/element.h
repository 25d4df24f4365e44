// Typed access to tensors in kernels: four elements at a time, converted to and from fp32.
#pragma once

#include "attention/dtype.h"
#include "base/numbers.h"

#include <type_traits>

struct alignas(8) four_halves {
    uint16_t at[4];
};

template <float (*DECODE)(uint16_t), uint16_t (*ENCODE)(float)> struct half_element {
    using type = uint16_t;
    __device__ static float4 load4(const uint16_t *from)
    {
        const four_halves x = *reinterpret_cast<const four_halves *>(from);
        return make_float4(DECODE(x.at[0]), DECODE(x.at[1]), DECODE(x.at[2]), DECODE(x.at[3]));
    }
    __device__ static void store4(uint16_t *to, float4 x)
    {
        *reinterpret_cast<four_halves *>(to) = {{ENCODE(x.x), ENCODE(x.y), ENCODE(x.z), ENCODE(x.w)}};
    }
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

template <> struct element<ATTN_F16> : half_element<f32_of_f16, f16_of_f32> {
};

template <> struct element<ATTN_BF16> : half_element<f32_of_bf16, bf16_of_f32> {
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
