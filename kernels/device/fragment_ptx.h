// PTX instructions without a C++ intrinsic, one function each; sm_80 and later.
#pragma once

#include "device/device.h"

#include <cstdint>

namespace ptx
{
__device__ __forceinline__ uint32_t smem_address(const void *smem)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(smem));
}

__device__ __forceinline__ void st_shared(uint32_t smem, int value)
{
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(smem), "r"(value) : "memory");
}

__device__ __forceinline__ int ld_shared(uint32_t smem)
{
    int value;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(smem) : "memory");
    return value;
}

// atomicAdd, and what was there; or 0 if `wanted` is false. Nothing waits for it before the result is used.
__device__ __forceinline__ unsigned add_if(bool wanted, unsigned *to, unsigned value)
{
    unsigned before = 0;
    asm volatile("{\n"
                 ".reg .pred wanted;\n"
                 "setp.ne.b32 wanted, %3, 0;\n"
                 "@wanted atom.global.add.u32 %0, [%1], %2;\n"
                 "}"
                 : "+r"(before)
                 : "l"(to), "r"(value), "r"(static_cast<unsigned>(wanted))
                 : "memory");
    return before;
}

// Copies 16 bytes from global to shared memory, bypassing registers; writes zeros when `exists` is false.
__device__ __forceinline__ void cp_async(uint32_t smem, const void *global, bool exists)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem), "l"(global),
                 "r"(exists ? 16 : 0)
                 : "memory");
}

__device__ __forceinline__ void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

__device__ __forceinline__ void cp_async_wait()
{
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}

// Four 8x8 matrices of 16-bit values; lane i gives the address of row i % 8 of matrix i / 8.
__device__ __forceinline__ void ldmatrix(uint32_t (&to)[4], uint32_t smem)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(smem)
                 : "memory");
}

__device__ __forceinline__ void ldmatrix_trans(uint32_t (&to)[4], uint32_t smem)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(smem)
                 : "memory");
}

// Two values rounded to 16 bits each, the first in the low half.
template <format FORMAT> __device__ __forceinline__ uint32_t pack(float low, float high)
{
    uint32_t packed;
    if constexpr (FORMAT == format::bf16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

// Two 16x8 accumulators side by side, as the 16x16 A operand of the next product.
template <format FORMAT>
__device__ __forceinline__ void pack_rows(uint32_t (&a)[4], const float (&left)[4], const float (&right)[4])
{
    a[0] = pack<FORMAT>(left[0], left[1]);
    a[1] = pack<FORMAT>(left[2], left[3]);
    a[2] = pack<FORMAT>(right[0], right[1]);
    a[3] = pack<FORMAT>(right[2], right[3]);
}

// c += a b; a 16x16 by rows, b 16x8 by columns, c 16x8.
template <format FORMAT>
__device__ __forceinline__ void mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    if constexpr (FORMAT == format::bf16)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
} // namespace ptx

// How a 16x8 accumulator of mma.sync, and each 16x8 part of a WGMMA's, is spread over a warp: lane l holds
// columns 2 * (l % 4) and the next one, of rows l / 4 and l / 4 + 8. Four lanes share a row.
struct accumulator_lanes {
    static __device__ int lane()
    {
        return static_cast<int>(threadIdx.x) % 32;
    }
    static __device__ int key(int j, int e)
    {
        return j * 8 + lane() % 4 * 2 + e % 2;
    }
    // Whether it holds for a lane of the warp.
    static __device__ bool any(bool x)
    {
        return __any_sync(0xffffffffu, x);
    }
    static __device__ float row_max(float x)
    {
        x = fmaxf(x, __shfl_xor(x, 1, 32));
        return fmaxf(x, __shfl_xor(x, 2, 32));
    }
    static __device__ float row_sum(float x)
    {
        x += __shfl_xor(x, 1, 32);
        return x + __shfl_xor(x, 2, 32);
    }
};

__device__ __forceinline__ float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
