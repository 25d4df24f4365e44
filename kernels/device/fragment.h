// Matrix-core fragments: what a wave (NVIDIA: warp) holds of an attention tile, and how the architecture
// multiplies it. `fragment<FORMAT, HEAD_DIM>` is defined per platform. All have the same members, so that one
// tile loop, one mask and one softmax serve all of them:
//   wave, waves            lanes per wave, waves per block
//   queries, keys          queries per wave, keys per tile; block_queries and threads follow
//   shared_bytes           dynamic shared memory (AMD: LDS) per block
//   scores, output         a lane's accumulators: .at[query tile][key or dim tile][4], in fp32
//   rows, row(i, e)        how many queries a lane has values of; the one that at[i][..][e] belongs to
//   query(row), key(j, e), dim(j, e)     the position of a value in the wave's queries, the tile, the head
//   sums                   1 or 2: partial sums kept per row
//   lift                   log2 of the factor by which P is scaled up where it is truncated before P V
//   row_max(x), row_sum(x) reductions over the lanes that share a row
//   loader                 loads Q once, then tiles of K and V into shared memory: begin(tile) starts a load,
//                          arrive() returns when the tile is visible to the whole block
//   score(..), accumulate(..)            S = Q K^T and O += P V, in whichever orientation suits the registers
//   store(..)              rows of O, normalised and rounded, or raw in fp32; pack(x, y) rounds two values
// This layer knows operand layouts and shared memory; it knows nothing of masks, softmax, heads or
// scheduling.
#pragma once

#include "device/device.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

enum class format { f16, bf16 };

// One head's rows in global memory: `count` rows, row i at data + i * stride.
struct head_rows {
    const uint16_t *data;
    uint32_t stride; // in elements
    int count;

    __device__ const uint16_t *row(int i) const
    {
        return data + static_cast<size_t>(i) * stride;
    }
};

// 16 bytes: the unit of every copy.
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
