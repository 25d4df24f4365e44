// The MFMA instruction that v5 uses on CDNA, v_mfma_f32_16x16x16, and the intrinsics around it, for waves
// of 64. On the CPU the same functions are plain C++ that follows AMD's documented lane layout. Lane l holds
//   of A (16 x 16)  row l % 16, columns 4 * (l / 16) + 0..3, two to a word
//   of B (16 x 16)  column l % 16, rows 4 * (l / 16) + 0..3
//   of C (16 x 16)  column l % 16, rows 4 * (l / 16) + 0..3
// so that the fragment's index maps are tested without such a GPU.
#pragma once

#include "device/device.h"

#include <cstdint>

namespace mfma
{
constexpr int wave = 64;

// Truncation to 16 bits loses half a unit in the last place on average: 2^-8 (bf16) or 2^-11 (f16) of the
// power of two below x, hence that / 1.5 relative to x. Scaling by this factor first makes truncation
// unbiased on average.
template <format FORMAT>
constexpr float cut_factor = FORMAT == format::f16 ? 1.0f + 1.0f / 3072.0f : 1.0f + 1.0f / 384.0f;
template <format FORMAT>
constexpr float cut_lift = FORMAT == format::f16 ? 4.69556e-4f : 3.752128e-3f; // its log2

__device__ __forceinline__ int lane()
{
    return static_cast<int>(threadIdx.x) % wave;
}

} // namespace mfma

#if defined(KS_PLATFORM_AMD)
#include "device/buffer_load.h"

namespace mfma
{
using half4 = _Float16 __attribute__((ext_vector_type(4)));
using short4 = short __attribute__((ext_vector_type(4)));
using float4 = float __attribute__((ext_vector_type(4)));

// c += a b; an operand is four values in 64 bits, the first one lowest
template <format FORMAT> __device__ __forceinline__ void product(float (&c)[4], uint64_t a, uint64_t b)
{
    float4 sum = {c[0], c[1], c[2], c[3]};
    if constexpr (FORMAT == format::f16)
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(half4, a),
                                                    __builtin_bit_cast(half4, b), sum, 0, 0, 0);
    else
        sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(short4, a),
                                                        __builtin_bit_cast(short4, b), sum, 0, 0, 0);
#pragma unroll
    for (int i = 0; i < 4; i++)
        c[i] = sum[i];
}

// A shuffle over the whole wave. HIP's __shfl_xor would spend a register on its width limit.
__device__ __forceinline__ float from_lane_xor(float x, int mask)
{
    const int got = __builtin_amdgcn_ds_bpermute((lane() ^ mask) * 4, __builtin_bit_cast(int, x));
    return __builtin_bit_cast(float, got);
}

// A buffer load at `base` + `offset`; zeros from `bytes` on. `base` and `bytes` are uniform over the wave.
template <class WORD>
__device__ __forceinline__ void fetch(WORD &to, const uint16_t *base, uint32_t bytes, uint32_t offset)
{
    const auto from = buffer_load::describe(base, bytes);
    const int at = static_cast<int>(offset);
    if constexpr (sizeof(WORD) == 16)
        to = __builtin_bit_cast(WORD, buffer_load::load16(from, at));
    else
        to = __builtin_bit_cast(WORD, buffer_load::load8(from, at));
}

// A scheduling barrier: keeps the compiler from hoisting one phase's operand loads into another.
__device__ __forceinline__ void phase()
{
    __builtin_amdgcn_sched_barrier(0);
}

// Packs the low (high) halves of two words into one, the first word's half low; one v_perm_b32 each.
__device__ __forceinline__ uint32_t low_halves(uint32_t first, uint32_t second)
{
    return __builtin_amdgcn_perm(second, first, 0x05040100u);
}

__device__ __forceinline__ uint32_t high_halves(uint32_t first, uint32_t second)
{
    return __builtin_amdgcn_perm(second, first, 0x07060302u);
}

// Rounds to nearest; bf16 rounds ties away from zero.
template <format FORMAT> __device__ __forceinline__ uint32_t pack(float low, float high)
{
    if constexpr (FORMAT == format::f16) {
        const _Float16 a = static_cast<_Float16>(low);
        const _Float16 b = static_cast<_Float16>(high);
        return static_cast<uint32_t>(__builtin_bit_cast(unsigned short, b)) << 16 |
               __builtin_bit_cast(unsigned short, a);
    } else
        return high_halves(__builtin_bit_cast(uint32_t, low) + 0x8000u,
                           __builtin_bit_cast(uint32_t, high) + 0x8000u);
}

// Truncates instead of rounding, which is cheaper. See cut_factor.
template <format FORMAT> __device__ __forceinline__ uint32_t cut(float low, float high)
{
    if constexpr (FORMAT == format::f16)
        return __builtin_bit_cast(uint32_t, __builtin_amdgcn_cvt_pkrtz(low, high));
    else
        return high_halves(__builtin_bit_cast(uint32_t, low), __builtin_bit_cast(uint32_t, high));
}
} // namespace mfma

__device__ __forceinline__ float exp2_fast(float x)
{
    return __builtin_amdgcn_exp2f(x);
}
#else
#include "device/mfma_cpu.h"
#endif
