// The MFMA of v5's ping-pong form, v_mfma_f32_32x32x8, and what pins the order in which a wave issues it. On
// the CPU the same functions are plain C++ that follows AMD's documented lane layout (mfma_cpu.h). Lane l
// holds
//   of A (32 x 8)   row l % 32, columns 4 * (l / 32) + 0..3, two to a word
//   of B (8 x 32)   column l % 32, rows 4 * (l / 32) + 0..3
//   of C (32 x 32)  column l % 32, value r in row 8 * (r / 4) + 4 * (l / 32) + r % 4
// gfx950 multiplies twice the depth at once (v_mfma_f32_32x32x16), a lane's eight values being those of two
// successive products here, so that one chunk of 16 bytes is an operand of either.
#pragma once

#include "device/mfma.h"

#if defined(KS_PLATFORM_AMD)
namespace mfma
{
using half8 = _Float16 __attribute__((ext_vector_type(8)));
using bfloat8 = __bf16 __attribute__((ext_vector_type(8)));
using pair = float __attribute__((ext_vector_type(2)));
using sum32 = float __attribute__((ext_vector_type(16)));
using uint64x2 = uint64_t __attribute__((ext_vector_type(2)));

#if defined(__gfx950__)
constexpr bool wide_products = true;
#else
constexpr bool wide_products = false;
#endif

// c += a b, with the low (HALF = 0) or high halves of two chunks.
template <format FORMAT, int HALF>
__device__ __forceinline__ void product32(sum32 &c, const chunk &a, const chunk &b)
{
    const uint64_t left = __builtin_bit_cast(uint64x2, a)[HALF];
    const uint64_t right = __builtin_bit_cast(uint64x2, b)[HALF];
    if constexpr (FORMAT == format::f16)
        c = __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(half4, left),
                                                 __builtin_bit_cast(half4, right), c, 0, 0, 0);
    else
        c = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(__builtin_bit_cast(short4, left),
                                                     __builtin_bit_cast(short4, right), c, 0, 0, 0);
}

// c += a b, with all of two chunks; gfx950 only.
template <format FORMAT>
__device__ __forceinline__ void product32_wide(sum32 &c, const chunk &a, const chunk &b)
{
#if defined(__gfx950__)
    if constexpr (FORMAT == format::f16)
        c = __builtin_amdgcn_mfma_f32_32x32x16_f16(__builtin_bit_cast(half8, a), __builtin_bit_cast(half8, b),
                                                   c, 0, 0, 0);
    else
        c = __builtin_amdgcn_mfma_f32_32x32x16_bf16(__builtin_bit_cast(bfloat8, a),
                                                    __builtin_bit_cast(bfloat8, b), c, 0, 0, 0);
#else
    (void)c, (void)a, (void)b;
#endif
}

// What has been computed up to here stays before this point, and what follows behind it, in the scheduler's
// eyes; it costs no instruction. Without it, LLVM moves arithmetic to where its result is used.
template <class T> __device__ __forceinline__ void pin(T &x)
{
    asm volatile("" : "+v"(x));
}

// The same for a number in a scalar register: the compiler knows nothing of its value from here on.
__device__ __forceinline__ void pin_uniform(int &x)
{
    asm volatile("" : "+s"(x));
}

// A barrier of the whole block that waits for this wave's accesses to LDS, but not for its loads from memory.
// Every wave must execute as many as every other one, but not at the same places.
__device__ __forceinline__ void barrier()
{
    asm volatile("" ::: "memory");
    __builtin_amdgcn_sched_barrier(0);
    __builtin_amdgcn_s_waitcnt(0xc07f); // lgkmcnt(0)
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_sched_barrier(0);
    asm volatile("" ::: "memory");
}

// Whether this wave's instructions go before those of the other wave on its SIMD.
template <bool FIRST> __device__ __forceinline__ void priority()
{
    __builtin_amdgcn_s_setprio(FIRST ? 1 : 0);
}

// A value that all lanes of a wave share, as the compiler cannot know.
__device__ __forceinline__ int uniform(int x)
{
    return __builtin_amdgcn_readfirstlane(x);
}
} // namespace mfma
#endif

namespace mfma
{
// Values 2 * i and 2 * i + 1, for packed arithmetic.
__device__ __forceinline__ pair pair_of(const sum32 &c, int i)
{
    return pair{c[2 * i], c[2 * i + 1]};
}
__device__ __forceinline__ void set_pair(sum32 &c, int i, pair x)
{
    c[2 * i] = x[0];
    c[2 * i + 1] = x[1];
}
} // namespace mfma
