// Fragments on NVIDIA from sm_80 on: mma.sync.m16n8k16, operands by ldmatrix, tiles by cp.async.
// S = Q K^T is not transposed: two neighbouring 16x8 accumulators of S are, in the same lane, the 16x16 A
// operand of P V, so P never leaves its registers. A warp owns 32 queries, because then each K or V operand
// fetched from shared memory feeds two instructions; with 16 queries, ldmatrix would be the bottleneck. Rows
// in shared memory are as long as the head. They are swizzled: chunk c of row r is stored at c ^ (r % 8), so
// that the eight rows read by one ldmatrix lie in different banks.
#pragma once

#include "device/fragment_ptx.h"

template <format FORMAT, int HEAD_DIM> struct fragment : accumulator_lanes {
    static constexpr int head_dim = HEAD_DIM;
    static constexpr int wave = 32;
    static constexpr int waves = 4;
    static constexpr int keys = 64;
    static constexpr int query_tiles = 2;
    static constexpr int queries = 16 * query_tiles;
    static constexpr int block_queries = waves * queries;
    static constexpr int threads = waves * 32;
    static constexpr int blocks_a_core = 2;

    struct scores {
        float at[query_tiles][keys / 8][4];
    };
    struct output {
        float at[query_tiles][HEAD_DIM / 8][4];
    };

    // ---- lane layout ----
    static constexpr int sums = 1;
    static constexpr float lift = 0.0f;
    static constexpr int rows = 2 * query_tiles;
    static __device__ constexpr int row(int i, int e)
    {
        return 2 * i + e / 2;
    }
    static __device__ int query(int row)
    {
        return row / 2 * 16 + row % 2 * 8 + lane() / 4;
    }

    // ---- tiles in shared memory ----
    static constexpr int row_bytes = HEAD_DIM * 2;
    static constexpr int row_chunks = HEAD_DIM / chunk_elements;
    static constexpr int q_bytes = block_queries * row_bytes;
    static constexpr int tile_bytes = keys * row_bytes;
    static constexpr size_t shared_bytes = q_bytes + 2 * 2 * tile_bytes;

    class loader
    {
      public:
        __device__ loader(void *smem, head_rows q, int first_query, head_rows k, head_rows v)
            : smem_(ptx::smem_address(smem)), k_(k), v_(v)
        {
            copy<block_queries>(smem_, q, first_query);
        }
        __device__ void begin(int tile)
        {
            into_ ^= 1;
            copy<keys>(slot(into_), k_, tile * keys);
            copy<keys>(slot(into_) + tile_bytes, v_, tile * keys);
            ptx::cp_async_commit();
        }
        __device__ void arrive()
        {
            ptx::cp_async_wait();
            __syncthreads();
            now_ = slot(into_);
        }
        __device__ uint32_t q() const
        {
            return smem_ + threadIdx.x / 32 * queries * row_bytes;
        }
        __device__ uint32_t k() const
        {
            return now_;
        }
        __device__ uint32_t v() const
        {
            return now_ + tile_bytes;
        }

      private:
        __device__ uint32_t slot(int i) const
        {
            return smem_ + q_bytes + i * 2 * tile_bytes;
        }
        // Rows beyond the sequence are filled with zeros.
        template <int COUNT> static __device__ void copy(uint32_t smem, head_rows from, int first)
        {
            constexpr int stripe = threads / row_chunks;
            const int column = static_cast<int>(threadIdx.x) % row_chunks;
            const int row = static_cast<int>(threadIdx.x) / row_chunks;
            const uint16_t *source = from.row(first + row) + column * chunk_elements;
            uint32_t to = smem + row * row_bytes + (column ^ row % 8) * 16;
#pragma unroll
            for (int i = 0; i < COUNT / stripe; i++) {
                const bool exists = first + row + i * stripe < from.count;
                ptx::cp_async(to + i * stripe * row_bytes, exists ? source : from.data, exists);
                source += stripe * from.stride;
            }
        }

        uint32_t smem_, now_ = 0;
        int into_ = 1;
        head_rows k_, v_;
    };

    // ---- products ----
    static __device__ void score(scores &s, const loader &tile)
    {
        const uint32_t q = operand(tile.q(), lane() % 16, lane() / 16);
        const uint32_t k = operand(tile.k(), lane() / 16 * 8 + lane() % 8, lane() / 8 % 2);
        clear(s.at);
#pragma unroll
        for (int d = 0; d < HEAD_DIM / 16; d++) {
            uint32_t a[query_tiles][4];
#pragma unroll
            for (int i = 0; i < query_tiles; i++)
                ptx::ldmatrix(a[i], (q ^ d * 32) + i * 16 * row_bytes);
#pragma unroll
            for (int j = 0; j < keys / 16; j++) {
                uint32_t b[4];
                ptx::ldmatrix(b, (k ^ d * 32) + j * 16 * row_bytes);
#pragma unroll
                for (int i = 0; i < query_tiles; i++) {
                    ptx::mma<FORMAT>(s.at[i][2 * j], a[i], b[0], b[1]);
                    ptx::mma<FORMAT>(s.at[i][2 * j + 1], a[i], b[2], b[3]);
                }
            }
        }
    }

    static __device__ void accumulate(output &o, const scores &p, const loader &tile)
    {
        const uint32_t v = operand(tile.v(), lane() % 16, lane() / 16);
#pragma unroll
        for (int j = 0; j < keys / 16; j++) {
            uint32_t a[query_tiles][4];
#pragma unroll
            for (int i = 0; i < query_tiles; i++)
                ptx::pack_rows<FORMAT>(a[i], p.at[i][2 * j], p.at[i][2 * j + 1]);
#pragma unroll
            for (int d = 0; d < HEAD_DIM / 16; d++) {
                uint32_t b[4];
                ptx::ldmatrix_trans(b, (v ^ d * 32) + j * 16 * row_bytes);
#pragma unroll
                for (int i = 0; i < query_tiles; i++) {
                    ptx::mma<FORMAT>(o.at[i][2 * d], a[i], b[0], b[1]);
                    ptx::mma<FORMAT>(o.at[i][2 * d + 1], a[i], b[2], b[3]);
                }
            }
        }
    }

    // This lane's part of one row of the output, times `factor`. `out`: where the row's head starts.
    static __device__ void store(uint16_t *out, const output &o, int row, float factor)
    {
        const int i = row / 2;
        const int e = row % 2 * 2;
#pragma unroll
        for (int j = 0; j < HEAD_DIM / 8; j++)
            *reinterpret_cast<uint32_t *>(out + j * 8 + lane() % 4 * 2) =
                ptx::pack<FORMAT>(o.at[i][j][e] * factor, o.at[i][j][e + 1] * factor);
    }

    // The same in fp32 and unnormalised.
    static __device__ void store(float *out, const output &o, int row)
    {
        const int i = row / 2;
        const int e = row % 2 * 2;
#pragma unroll
        for (int j = 0; j < HEAD_DIM / 8; j++)
            *reinterpret_cast<float2 *>(out + j * 8 + lane() % 4 * 2) =
                make_float2(o.at[i][j][e], o.at[i][j][e + 1]);
    }

    static __device__ uint32_t pack(float low, float high)
    {
        return ptx::pack<FORMAT>(low, high);
    }

  private:
    // The address of a lane's first chunk; the others follow by flipping bits of the column and adding rows.
    static __device__ uint32_t operand(uint32_t tile, int row, int column)
    {
        return tile + row * row_bytes + (column ^ row % 8) * 16;
    }
    template <int M, int N> static __device__ void clear(float (&at)[M][N][4])
    {
#pragma unroll
        for (int i = 0; i < M; i++)
#pragma unroll
            for (int j = 0; j < N; j++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    at[i][j][e] = 0.0f;
    }
};
