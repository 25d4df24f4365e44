// Fragments on CDNA3 (gfx942) by MFMA, and on the CPU, where mfma_cpu.h emulates the instruction. S^T = K Q^T
// and O^T += V^T P^T: a lane owns one query of every query tile, and the four values of S^T that it gets are,
// after rounding, the B operand of the second product, so P moves neither between lanes nor through LDS. The
// assignment of keys to a tile's 16 rows is free as long as P and V agree, and so is that of dims to the
// steps of K. It is chosen so that a lane's operands for two successive MFMAs are 16 contiguous bytes in LDS:
//   keys of a lane in products 2n and 2n + 1:  32n + 8 * (lane / 16) + 0..3 and + 4..7; the dimensions are laid out in the same way.
// LDS holds K row-major and V transposed, both in 16-byte chunks, swizzled so that eight neighbouring lanes
// never conflict on a bank, neither in the copies nor in operand reads. The next tile is prefetched into
// registers while the current one is in use; LDS holds a single tile, so that two blocks fit on a CU.
#pragma once

#include "device/mfma.h"

template <format FORMAT, int HEAD_DIM> struct fragment {
    static constexpr int head_dim = HEAD_DIM;
    static constexpr int wave = mfma::wave;
    static constexpr int waves = 4;
    static constexpr int keys = 8192 / HEAD_DIM;
    static constexpr int query_tiles = 2;
    static constexpr int key_tiles = keys / 16;
    static constexpr int dim_tiles = HEAD_DIM / 16;
    static constexpr int queries = 16 * query_tiles;
    static constexpr int block_queries = waves * queries;
    static constexpr int threads = waves * wave;
    static constexpr int blocks_a_core = 2;

    struct scores {
        float at[query_tiles][key_tiles][4];
    };
    struct output {
        float at[query_tiles][dim_tiles][4];
    };

    // ---- lane layout ----
    static constexpr int sums = 2;
    static constexpr float lift = mfma::cut_lift<FORMAT>;
    static constexpr int rows = query_tiles;
    static __device__ constexpr int row(int i, int)
    {
        return i;
    }
    static __device__ int group()
    {
        return mfma::lane() / 16;
    }
    static __device__ int query(int row)
    {
        return row * 16 + mfma::lane() % 16;
    }
    static __device__ int key(int j, int e)
    {
        return j / 2 * 32 + group() * 8 + j % 2 * 4 + e;
    }
    static __device__ float row_max(float x)
    {
        x = fmaxf(x, mfma::from_lane_xor(x, 16));
        return fmaxf(x, mfma::from_lane_xor(x, 32));
    }
    static __device__ float row_sum(float x)
    {
        x += mfma::from_lane_xor(x, 16);
        return x + mfma::from_lane_xor(x, 32);
    }

    // ---- tiles in LDS ----
    static constexpr int row_chunks = HEAD_DIM / chunk_elements; // of K
    static constexpr int column_chunks = keys / chunk_elements;  // of transposed V
    static constexpr int tile_chunks = keys * row_chunks;
    static constexpr size_t shared_bytes = 2 * tile_chunks * sizeof(chunk);

    static __device__ int key_chunk(int key, int column)
    {
        return key * row_chunks + (column ^ (key % 4 + key / 8 % 2 * 4));
    }
    static __device__ int dim_chunk(int dim, int column)
    {
        return dim * column_chunks + (column ^ ((dim ^ dim / 4) % 8));
    }

    class loader
    {
      public:
        __device__ loader(void *lds, head_rows q, int first_query, head_rows k, head_rows v)
            : k_lds_(static_cast<chunk *>(lds)), v_lds_(k_lds_ + tile_chunks), k_(k), v_(v)
        {
            const int wave_query = first_query + static_cast<int>(threadIdx.x) / wave * queries;
#pragma unroll
            for (int i = 0; i < query_tiles; i++)
#pragma unroll
                for (int d = 0; d < dim_tiles / 2; d++)
                    q_[i][d] = *reinterpret_cast<const chunk *>(row(q, wave_query + query(i)) + d * 32 +
                                                                group() * 8);
        }
        __device__ __forceinline__ void begin(int tile)
        {
            fetch<stripes>(held_k_, k_, tile * keys, first_row(), first_column() * chunk_elements);
            fetch<1>(held_v_, v_, tile * keys, first_key(), first_dim());
        }
        __device__ __forceinline__ void arrive()
        {
            __syncthreads(); // every wave is done with the previous tile
#pragma unroll
            for (int i = 0; i < 4; i++)
                k_lds_[key_chunk(first_row() + i * stripes, first_column())] = held_k_[i];
#pragma unroll
            for (int d = 0; d < 4; d++)
                v_lds_[dim_chunk(first_dim() + d, first_key() / 8)] = column_of_v(d);
            __syncthreads();
        }
        __device__ const chunk *k() const
        {
            return k_lds_;
        }
        __device__ const chunk *v() const
        {
            return v_lds_;
        }
        __device__ const chunk &q(int i, int d) const
        {
            return q_[i][d];
        }

      private:
        static constexpr int stripes = threads / row_chunks;
        static_assert(4 * stripes == keys && threads == keys / 8 * (HEAD_DIM / 4),
                      "every thread copies the same amount");

        // A thread copies one chunk of K from every stripe of rows.
        static __device__ int first_row()
        {
            return static_cast<int>(threadIdx.x) / row_chunks;
        }
        static __device__ int first_column()
        {
            return static_cast<int>(threadIdx.x) % row_chunks;
        }
        // A thread copies eight keys by four dims of V.
        static __device__ int first_key()
        {
            return static_cast<int>(threadIdx.x) / (HEAD_DIM / 4) * 8;
        }
        static __device__ int first_dim()
        {
            return static_cast<int>(threadIdx.x) % (HEAD_DIM / 4) * 4;
        }
        // The last row stands in for rows beyond the sequence: their results are never stored.
        static __device__ const uint16_t *row(head_rows from, int i)
        {
            return from.row(i < from.count ? i : from.count - 1);
        }
        // Rows `row`, `row` + STEP, ... of the tile at `first`; zeros beyond the sequence. Base addresses are
        // uniform over the wave (scalar registers); the instruction adds a per-lane offset.
        template <int STEP, int COUNT, class WORD>
        static __device__ __forceinline__ void fetch(WORD (&held)[COUNT], head_rows from, int first, int row,
                                                     int column)
        {
            const auto row_bytes = static_cast<uint32_t>(sizeof(uint16_t)) * from.stride;
            const uint32_t lane = static_cast<uint32_t>(row) * row_bytes + static_cast<uint32_t>(column) * 2;
            const int left = from.count - first < keys ? from.count - first : keys;
#pragma unroll
            for (int i = 0; i < COUNT; i++) {
                const int rows = left > i * STEP ? left - i * STEP : 0;
                mfma::fetch(held[i], from.row(first + i * STEP), static_cast<uint32_t>(rows) * row_bytes,
                            lane);
            }
        }
        __device__ __forceinline__ chunk column_of_v(int d) const
        {
            chunk c;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const auto first = static_cast<uint32_t>(held_v_[2 * i] >> d / 2 * 32);
                const auto second = static_cast<uint32_t>(held_v_[2 * i + 1] >> d / 2 * 32);
                c[i] = d % 2 ? mfma::high_halves(first, second) : mfma::low_halves(first, second);
            }
            return c;
        }

        chunk *k_lds_, *v_lds_;
        head_rows k_, v_;
        chunk q_[query_tiles][dim_tiles / 2];
        chunk held_k_[4];
        uint64_t held_v_[8]; // four dims of a key each
    };

    // ---- products ----
    static __device__ __forceinline__ void score(scores &s, const loader &tile)
    {
        const int m = mfma::lane() % 16;
#pragma unroll
        for (int j = 0; j < key_tiles; j++) {
            const int key = j / 2 * 32 + m / 4 * 8 + j % 2 * 4 + m % 4;
#pragma unroll
            for (int i = 0; i < query_tiles; i++)
#pragma unroll
                for (int e = 0; e < 4; e++)
                    s.at[i][j][e] = 0.0f;
#pragma unroll
            for (int d = 0; d < dim_tiles / 2; d++) {
                const chunk k = tile.k()[key_chunk(key, d * 4 + group())];
#pragma unroll
                for (int i = 0; i < query_tiles; i++)
                    multiply(s.at[i][j], k, tile.q(i, d));
            }
        }
    }

    static __device__ __forceinline__ void accumulate(output &o, const scores &p, const loader &tile)
    {
        mfma::phase();
#pragma unroll
        for (int j = 0; j < key_tiles / 2; j++) {
            chunk packed[query_tiles];
#pragma unroll
            for (int i = 0; i < query_tiles; i++)
#pragma unroll
                for (int w = 0; w < 4; w++) {
                    const float(&four)[4] = p.at[i][2 * j + w / 2];
                    packed[i][w] = mfma::cut<FORMAT>(four[w % 2 * 2], four[w % 2 * 2 + 1]);
                }
#pragma unroll
            for (int d = 0; d < dim_tiles; d++) {
                const chunk v = tile.v()[dim_chunk(d * 16 + mfma::lane() % 16, j * 4 + group())];
#pragma unroll
                for (int i = 0; i < query_tiles; i++)
                    multiply(o.at[i][d], v, packed[i]);
            }
        }
    }

    // This lane's part of one row of the output, times `factor`. `out`: where the row's head starts.
    static __device__ void store(uint16_t *out, const output &o, int row, float factor)
    {
        factor *= mfma::cut_factor<FORMAT>; // the lift of the row sum; truncation removed that of P V
#pragma unroll
        for (int d = 0; d < dim_tiles; d++) {
            const float(&four)[4] = o.at[row][d];
            uint32_t *to = reinterpret_cast<uint32_t *>(out + d * 16 + group() * 4);
            to[0] = mfma::pack<FORMAT>(four[0] * factor, four[1] * factor);
            to[1] = mfma::pack<FORMAT>(four[2] * factor, four[3] * factor);
        }
    }

    // The same in fp32 and unnormalised: dividing by the row's sum gives the output.
    static __device__ void store(float *out, const output &o, int row)
    {
#pragma unroll
        for (int d = 0; d < dim_tiles; d++) {
            const float(&four)[4] = o.at[row][d];
            const float factor = mfma::cut_factor<FORMAT>;
            *reinterpret_cast<float4 *>(out + d * 16 + group() * 4) =
                make_float4(four[0] * factor, four[1] * factor, four[2] * factor, four[3] * factor);
        }
    }

    static __device__ uint32_t pack(float low, float high)
    {
        return mfma::pack<FORMAT>(low, high);
    }

  private:
    // Two MFMAs: the low halves of the operands' chunks, then the high halves. Halves are single 64-bit
    // values: clangs up to 21 load the low half again from LDS if it is put together from 32-bit words.
    static __device__ __forceinline__ void multiply(float (&c)[4], const chunk &a, const chunk &b)
    {
        struct halves {
            uint64_t low, high;
        };
        const auto left = __builtin_bit_cast(halves, a), right = __builtin_bit_cast(halves, b);
        mfma::product<FORMAT>(c, left.low, right.low);
        mfma::product<FORMAT>(c, left.high, right.high);
    }
};
