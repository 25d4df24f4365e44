// Fragments on Hopper (sm_90a): what a warpgroup of 128 threads holds, and its asynchronous WGMMAs.
// The members that mask and softmax use are those of fragment.h. The products are only issued here; waiting
// for them is up to the caller's pipeline. A tile in shared memory is one panel of 128-byte rows for every 64
// dims of the head, as TMA writes it in its 128-byte swizzle.
#pragma once

#include "device/hopper.h"

template <format FORMAT, int HEAD_DIM> struct warpgroup_fragment : accumulator_lanes {
    static constexpr int head_dim = HEAD_DIM;
    static constexpr int queries = 64;
    static constexpr int keys = 128;
    static constexpr int panels = HEAD_DIM / 64;
    static constexpr int query_panel_bytes = queries * 128;
    static constexpr int key_panel_bytes = keys * 128;
    static constexpr int query_bytes = panels * query_panel_bytes;
    static constexpr int tile_bytes = panels * key_panel_bytes;

    struct scores {
        float at[1][keys / 8][4];
    };
    struct output {
        float at[1][HEAD_DIM / 8][4];
    };
    struct probabilities {
        uint32_t at[keys / 16][4];
    };

    static constexpr int sums = 2;
    static constexpr float lift = 0.0f;
    static constexpr int rows = 2;
    static __device__ constexpr int row(int, int e)
    {
        return e / 2;
    }
    static __device__ int warp()
    {
        return static_cast<int>(threadIdx.x) / 32 % 4;
    }
    static __device__ int query(int row)
    {
        return warp() * 16 + row * 8 + lane() / 4;
    }

    // The descriptor of an operand's part. Derived from the whole operand's, it costs one instruction instead
    // of five; yet at D=64 the schedule that the compiler makes of it is 3 % slower.
    static __device__ __forceinline__ uint64_t part(const hopper::operand &of, uint32_t bytes)
    {
        return HEAD_DIM == 64 ? of.recomputed(bytes) : of.at(bytes);
    }

    // Issues S = Q K^T.
    static __device__ __forceinline__ void begin_score(scores &s, uint32_t q, uint32_t k)
    {
        const hopper::operand queries_at(q, 16), keys_at(k, 16);
        hopper::wgmma_fence();
#pragma unroll
        for (int d = 0; d < HEAD_DIM; d += 16)
            hopper::wgmma<FORMAT>(s.at[0], part(queries_at, d / 64 * query_panel_bytes + d % 64 * 2),
                                  part(keys_at, d / 64 * key_panel_bytes + d % 64 * 2), d > 0);
        hopper::wgmma_commit();
    }

    // Issues O += P V, or O = P V when nothing was accumulated yet.
    static __device__ __forceinline__ void begin_accumulate(output &o, const probabilities &p, uint32_t v,
                                                            bool accumulated)
    {
        const hopper::operand values_at(v, key_panel_bytes);
        hopper::wgmma_fence();
#pragma unroll
        for (int j = 0; j < keys / 16; j++)
            hopper::wgmma<FORMAT>(o.at[0], p.at[j], part(values_at, j * 2 * hopper::swizzled_group),
                                  j > 0 || accumulated);
        hopper::wgmma_commit();
    }

    static __device__ __forceinline__ void round(probabilities &p, const scores &s)
    {
#pragma unroll
        for (int j = 0; j < keys / 16; j++)
            ptx::pack_rows<FORMAT>(p.at[j], s.at[0][2 * j], s.at[0][2 * j + 1]);
    }

    // This lane's part of one row of the unnormalised output. `out`: where the row's head starts.
    static __device__ void store(float *out, const output &o, int row)
    {
#pragma unroll
        for (int j = 0; j < HEAD_DIM / 8; j++)
            *reinterpret_cast<float2 *>(out + j * 8 + lane() % 4 * 2) =
                make_float2(o.at[0][j][row * 2], o.at[0][j][row * 2 + 1]);
    }

    // The warpgroup's output into shared memory, in the layout that TMA expects.
    static __device__ void put(uint32_t smem, const output &o)
    {
        const int row = warp() * 16 + lane() % 16;
#pragma unroll
        for (int j = 0; j < HEAD_DIM / 16; j++) {
            const int column = j % 4 * 2 + lane() / 16;
            uint32_t packed[4];
            ptx::pack_rows<FORMAT>(packed, o.at[0][2 * j], o.at[0][2 * j + 1]);
            hopper::stmatrix(smem + j / 4 * query_panel_bytes + row * 128 + (column ^ row % 8) * 16, packed);
        }
    }
};
