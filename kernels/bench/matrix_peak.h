// Saturates the device's matrix cores: bf16 products by the largest instruction that v5 uses on the
// architecture, with operands that stay in place. Does nothing on architectures without such an instruction.
// The operands are random, because zeros draw less power and so run faster than real inputs.
#pragma once

#include "base/numbers.h"

#include <cstdint>

#if defined(KS_PLATFORM_NVIDIA)
#include "device/fragment.h"
#include "device/fragment_wgmma.h"
#endif

namespace matrix_peak
{
constexpr int threads = 256;
constexpr int chains = 8; // independent products per wave

// Two bf16 values of magnitude 0.5 to 1 and random sign.
__device__ __forceinline__ uint32_t two_values(uint32_t seed)
{
    return (static_cast<uint32_t>(seeded_hash(seed)) & 0x807f807fu) | 0x3f003f00u;
}

// `flops`: per block and round, 0 without matrix cores. `sum` depends on the results, so that the compiler
// cannot eliminate the work.
struct work {
    double flops;
    float sum;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ inline work multiply(int rounds)
{
    using F = warpgroup_fragment<format::bf16, 64>;
    constexpr int warpgroups = threads / 128;
    constexpr int bytes = warpgroups * F::query_bytes + F::tile_bytes;
    __shared__ __align__(1024) uint32_t smem[bytes / 4];
    for (int i = static_cast<int>(threadIdx.x); i < bytes / 4; i += threads)
        smem[i] = two_values(static_cast<uint32_t>(i));
    hopper::fence_async_proxy();
    __syncthreads();

    const uint32_t at = ptx::smem_address(smem);
    const uint32_t q = at + threadIdx.x / 128 * F::query_bytes;
    const uint32_t k = at + warpgroups * F::query_bytes;
    typename F::scores s = {};
    for (int round = 0; round < rounds; round++) { // accumulates: an overwritten result could be eliminated
        hopper::wgmma_fence();
#pragma unroll
        for (int d = 0; d < F::head_dim; d += 16)
            hopper::wgmma<format::bf16>(s.at[0], hopper::operand(q, 16).at(d * 2),
                                        hopper::operand(k, 16).at(d * 2), 1);
        hopper::wgmma_commit();
        hopper::wgmma_wait<0>();
    }
    return {2.0 * warpgroups * F::queries * F::keys * F::head_dim, s.at[0][0][0]};
}
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 || defined(__gfx90a__) || defined(__gfx942__) ||        \
    defined(__gfx950__)
#if defined(KS_PLATFORM_NVIDIA)
constexpr int wave = 32, columns = 8;
using accumulator = float[4];

__device__ __forceinline__ void product(accumulator &sum, uint32_t seed)
{
    const uint32_t a[4] = {two_values(seed), two_values(seed + 1), two_values(seed + 2),
                           two_values(seed + 3)};
    ptx::mma<format::bf16>(sum, a, two_values(seed + 4), two_values(seed + 5));
}
#else
constexpr int wave = 64, columns = 16;
using accumulator = float __attribute__((ext_vector_type(4)));
using operand = short __attribute__((ext_vector_type(4)));

__device__ __forceinline__ void product(accumulator &sum, uint32_t seed)
{
    const uint32_t values[4] = {two_values(seed), two_values(seed + 1), two_values(seed + 2),
                                two_values(seed + 3)};
    operand a, b;
    __builtin_memcpy(&a, &values[0], sizeof a);
    __builtin_memcpy(&b, &values[2], sizeof b);
    sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a, b, sum, 0, 0, 0);
}
#endif

__device__ inline work multiply(int rounds)
{
    const uint32_t seed = threadIdx.x * 8;
    accumulator c[chains] = {};
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < chains; i++)
            product(c[i], seed);
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < chains; i++)
        sum += c[i][0];
    return {2.0 * (threads / wave) * chains * 16 * 16 * columns, sum};
}
#else
__device__ inline work multiply(int)
{
    return {0.0, 0.0f};
}
#endif
} // namespace matrix_peak
