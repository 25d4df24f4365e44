// Matrix-core fragments: what a wave holds of an attention tile, and how the architecture multiplies it.
// `fragment<FORMAT, HEAD_DIM>` is the platform's. All have the same parts, so that one loop over tiles,
// one mask and one softmax serve them all:
//   wave, waves            lanes a wave, waves a block
//   queries, keys          queries a wave, keys a tile; block_queries and threads follow
//   scores, output         a lane's accumulators: .at[query tile][key or dim tile][4], in fp32
//   rows, row(i, e)        queries a lane has values of; which of them at[i][..][e] belongs to
//   query(row), key(j, e), dim(j, e)     where in the wave's queries, the tile's keys, the head a value is
//   sums                   parts, 1 or 2, in which a row's sum is kept
//   lift                   log2 of what P should be too large by, where it is rounded down before P V
//   row_max(x), row_sum(x) over the lanes that share a row
//   loader                 brings Q once and tiles of K and V in turn into LDS:
//                          begin(tile) starts, arrive() ends with the tile visible to the whole block
//   score(..), accumulate(..)            S = Q K^T and O += P V, in whichever orientation suits the registers
//   store(..)              rows of O, divided and rounded, or in fp32; pack(x, y) rounds two values
// The layer knows operand layouts and LDS; it knows nothing of masks, softmax, heads or schedules.
#pragma once

#include "device/device.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

enum class format { f16, bf16 };

// One head's rows in global memory: row i starts at data + i * stride, `count` of them exist.
struct head_rows {
    const uint16_t *data;
    uint32_t stride; // in elements
    int count;

    __device__ const uint16_t *row(int i) const
    {
        return data + static_cast<size_t>(i) * stride;
    }
};

// Sixteen bytes, as every copy here moves them.
#if defined(KS_PLATFORM_NVIDIA)
using chunk = uint4;
#else
using chunk = uint32_t __attribute__((vector_size(16)));
#endif
constexpr int chunk_elements = 8;

#if defined(KS_PLATFORM_NVIDIA)
#include "device/fragment_mma.h"
#else
#include "device/fragment_mfma.h"
#endif
