// Matrix-core fragments: what a wave holds of an attention tile, and how the architecture multiplies it.
// `fragment<FORMAT, HEAD_DIM>` is the platform's. All have the same parts, so that one loop over tiles,
// one mask and one softmax serve them all:
//   waves, queries, keys   waves a block, queries a wave, keys a tile; block_queries and threads follow
//   scores, output         a lane's accumulators: .at[query tile][key or dim tile][4], in fp32
//   rows, row(i, e)        queries a lane has values of; which of them at[i][..][e] belongs to
//   query(row), key(j, e), dim(j, e)     where in the wave's queries, the tile's keys, the head a value is
//   row_max(x), row_sum(x) over the lanes that share a row
//   loader                 brings Q once and tiles of K and V in turn into LDS:
//                          begin(tile) starts, arrive() ends with the tile visible to the whole block
//   score(..), accumulate(..)            S = Q K^T and O += P V, in whichever orientation suits the registers
//   store(..)              rows of O, divided and rounded
// The layer knows operand layouts and LDS; it knows nothing of masks, softmax, heads or schedules.
#pragma once

#include "device/device.h"

#include <cstdint>
#include <type_traits>

enum class format { f16, bf16 };

// One head's rows in global memory: row i starts at data + i * stride, `count` of them exist.
struct head_rows {
    const uint16_t *data;
    size_t stride; // in elements
    int count;
};

// Sixteen bytes, as every copy here moves them.
struct alignas(16) chunk {
    uint32_t word[4];
};
constexpr int chunk_elements = 8;

#if defined(KS_PLATFORM_NVIDIA)
#include "device/fragment_mma.h"
#else
#include "device/fragment_mfma.h"
#endif
