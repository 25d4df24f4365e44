// Buffer loads on CDNA: the wave-uniform part of an address in scalar registers, a 32-bit offset per lane,
// and zeros beyond the end. For device/mfma.h, and only where KS_PLATFORM_AMD is defined. clang has builtins
// for them since 19 (ROCm 6.4); for the older ones the LLVM intrinsics are declared by their own names, which
// take the descriptor as four words.
#pragma once

#include "device/device.h"

#include <cstdint>

namespace buffer_load
{
constexpr int raw_words = 0x00020000; // descriptor word 3: a raw buffer of 32-bit words

using word2 = uint32_t __attribute__((ext_vector_type(2)));
using word4 = uint32_t __attribute__((ext_vector_type(4)));

#if __has_builtin(__builtin_amdgcn_make_buffer_rsrc) && __has_builtin(__builtin_amdgcn_raw_buffer_load_b128)
using descriptor = __amdgpu_buffer_rsrc_t;

// `bytes` must be uniform over the wave, and so must `base`.
__device__ __forceinline__ descriptor describe(const void *base, uint32_t bytes)
{
    return __builtin_amdgcn_make_buffer_rsrc(
        const_cast<void *>(base), 0, __builtin_amdgcn_readfirstlane(static_cast<int>(bytes)), raw_words);
}

__device__ __forceinline__ word4 load16(descriptor from, int offset)
{
    return __builtin_amdgcn_raw_buffer_load_b128(from, offset, 0, 0);
}

__device__ __forceinline__ word2 load8(descriptor from, int offset)
{
    return __builtin_amdgcn_raw_buffer_load_b64(from, offset, 0, 0);
}
#else
using descriptor = int __attribute__((ext_vector_type(4)));

__device__ word4 intrinsic_load16(descriptor from, int offset, int scalar_offset,
                                  int cache) __asm("llvm.amdgcn.raw.buffer.load.v4i32");
__device__ word2 intrinsic_load8(descriptor from, int offset, int scalar_offset,
                                 int cache) __asm("llvm.amdgcn.raw.buffer.load.v2i32");

// As above. No readfirstlane for `base`: it is uniform already, and asking again costs a vector instruction
// per word.
__device__ __forceinline__ descriptor describe(const void *base, uint32_t bytes)
{
    const auto address = reinterpret_cast<uint64_t>(base);
    return descriptor{static_cast<int>(address), static_cast<int>(address >> 32 & 0xffffu),
                      __builtin_amdgcn_readfirstlane(static_cast<int>(bytes)), raw_words};
}

__device__ __forceinline__ word4 load16(descriptor from, int offset)
{
    return intrinsic_load16(from, offset, 0, 0);
}

__device__ __forceinline__ word2 load8(descriptor from, int offset)
{
    return intrinsic_load8(from, offset, 0, 0);
}
#endif
} // namespace buffer_load
