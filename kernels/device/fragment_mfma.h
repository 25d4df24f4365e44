// Fragments on CDNA (gfx942), and on the CPU, where mfma.h imitates the instruction.
// S^T = K Q^T and O^T += V^T P^T: a lane owns one query of every query tile, and the four values of S^T that
// it gets are, rounded, the B operand of the second product, so P moves neither between lanes nor through
// LDS. Which keys a tile's 16 rows stand for is free as long as P and V agree, and so are the dims of a step.
// They are chosen so that a lane's operands for two successive products are 16 neighbouring bytes in LDS:
//   keys of a lane in products 2n and 2n + 1:  32n + 8 * (lane / 16) + 0..3 and + 4..7, dims alike.
// K lies in LDS by rows, V transposed, both in 16-byte chunks that are swizzled so that neither the copies
// nor the operands of eight neighbouring lanes share a bank. A tile is held in registers while the one before
// is worked on: LDS holds one, so that two blocks fit on a core.
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

    // ---- where a lane's values are ----
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
    static constexpr size_t lds_bytes = 2 * tile_chunks * sizeof(chunk);

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
            __syncthreads(); // the tile before is done with
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
                      "every thread copies alike");

        // K is copied in chunks, by stripes of rows.
        static __device__ int first_row()
        {
            return static_cast<int>(threadIdx.x) / row_chunks;
        }
        static __device__ int first_column()
        {
            return static_cast<int>(threadIdx.x) % row_chunks;
        }
        // V is copied in pieces of eight keys by four dims.
        static __device__ int first_key()
        {
            return static_cast<int>(threadIdx.x) / (HEAD_DIM / 4) * 8;
        }
        static __device__ int first_dim()
        {
            return static_cast<int>(threadIdx.x) % (HEAD_DIM / 4) * 4;
        }
        // A row that does not exist is replaced by the last one: its scores will be masked.
        static __device__ const uint16_t *row(head_rows from, int i)
        {
            return from.row(i < from.count ? i : from.count - 1);
        }
        // Rows `row`, `row` + STEP, ... of the tile at `first`; of rows that do not exist, zeros. Addresses
        // are the wave's own, to which the instruction adds one offset of the lane's.
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

    // ---- the two products ----
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

    // A row of the wave's output, from `out`, where its head's dims start: this lane's share, times `factor`.
    static __device__ void store(uint16_t *out, const output &o, int row, float factor)
    {
        factor *= mfma::cut_factor<FORMAT>; // the sum's share of the lift; the cuts took the products'
#pragma unroll
        for (int d = 0; d < dim_tiles; d++) {
            const float(&four)[4] = o.at[row][d];
            uint32_t *to = reinterpret_cast<uint32_t *>(out + d * 16 + group() * 4);
            to[0] = mfma::pack<FORMAT>(four[0] * factor, four[1] * factor);
            to[1] = mfma::pack<FORMAT>(four[2] * factor, four[3] * factor);
        }
    }

    // The same into memory of fp32, undivided; right once divided by the row's sum.
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
    // Two products: the low halves of the operands' chunks, then the high ones.
    static __device__ __forceinline__ void multiply(float (&c)[4], const chunk &a, const chunk &b)
    {
        const uint32_t a_low[2] = {a[0], a[1]}, b_low[2] = {b[0], b[1]};
        const uint32_t a_high[2] = {a[2], a[3]}, b_high[2] = {b[2], b[3]};
        mfma::product<FORMAT>(c, a_low, b_low);
        mfma::product<FORMAT>(c, a_high, b_high);
    }
};
