// The fragments of v5's ping-pong form: what a wave of 64 holds of a tile, by v_mfma_f32_32x32x8, and the
// rings of K and V in LDS. As in fragment_mfma.h the products are S^T = K Q^T and O^T += V^T P^T, so that a
// lane's scores of one query are, cut to 16 bits, its B operand of the second product. Eight waves of 32
// queries share a tile of keys. A lane's operands of two successive MFMAs are 16 contiguous bytes:
//   keys  of products 2n and 2n + 1: 16n + 8 * (lane / 32) + 0..3 and + 4..7; dims in the same way
//   rows  of LDS, by key (K) or by dim (V, transposed): neighbouring lanes read neighbouring rows
// A row of LDS is an odd number of 16-byte chunks long, so that any eight neighbouring rows cover all banks,
// and neither copies nor reads of operands conflict (tests/test_v5_ping_pong.cpp). Knows nothing of barriers:
// the schedule (attention/v5_cdna.h) owns who accesses which slot when.
#pragma once

#include "device/fragment.h"
#include "device/mfma32.h"

template <format FORMAT, int HEAD_DIM> struct fragment32 {
    static constexpr int head_dim = HEAD_DIM;
    static constexpr int wave = mfma::wave;
    static constexpr int waves = 8;
    static constexpr int queries = 32;
    static constexpr int block_queries = waves * queries;
    static constexpr int threads = waves * wave;
    static constexpr int keys = 4096 / HEAD_DIM; // of a step: 16 products of either kind
    static constexpr int key_tiles = keys / 32;
    static constexpr int dim_tiles = HEAD_DIM / 32;
    static constexpr int key_chunks = keys / 16;     // of a lane
    static constexpr int dim_chunks = HEAD_DIM / 16; // of a lane
    static constexpr int products = 16;
    static constexpr int values = 16; // a lane's share of a 32 x 32 tile
    static constexpr float lift = mfma::cut_lift<FORMAT>;

    struct scores {
        mfma::sum32 at[key_tiles];
    };
    struct output {
        mfma::sum32 at[dim_tiles];
    };
    struct queries_held {
        chunk at[dim_chunks];
    };
    struct operands { // of 16 products
        chunk at[products / 2];
    };
    struct probabilities {
        chunk at[key_chunks];
    };

    // ---- lane layout ----
    static __device__ int half()
    {
        return mfma::lane() / 32;
    }
    static __device__ int query()
    {
        return mfma::lane() % 32;
    }
    // The key of value `r` of key tile `j`, less first_key().
    static __device__ constexpr int key(int j, int r)
    {
        return 32 * j + 16 * (r / 8) + 4 * (r / 4 % 2) + r % 4;
    }
    static __device__ int first_key()
    {
        return 8 * half();
    }
    static __device__ float across(float x)
    {
        return mfma::from_lane_xor(x, 32);
    }

    // ---- rings in LDS: positions within a slot, in chunks ----
    static constexpr int slots = 2;
    static constexpr int row_chunks = HEAD_DIM / chunk_elements;
    static constexpr int k_row = row_chunks + 1;
    static constexpr int v_row = keys / chunk_elements + 1;
    static_assert(k_row % 2 == 1 && v_row % 2 == 1, "eight neighbouring rows cover all banks");
    static constexpr int k_slot = keys * k_row;
    static constexpr int v_slot = HEAD_DIM * v_row;
    static constexpr int ring_chunks = slots * (k_slot + v_slot);

    static __device__ constexpr int k_at(int tile)
    {
        return tile % slots * k_slot;
    }
    static __device__ constexpr int v_at(int tile)
    {
        return slots * k_slot + tile % slots * v_slot;
    }
    // Where a lane reads its operands of products 2n and 2n + 1.
    static __device__ constexpr int k_read_at(int lane, int n)
    {
        return lane % 32 * k_row + lane / 32 + n % key_tiles * 32 * k_row + n / key_tiles * 2;
    }
    static __device__ constexpr int v_read_at(int lane, int n)
    {
        return lane % 32 * v_row + lane / 32 + n % dim_tiles * 32 * v_row + n / dim_tiles * 2;
    }
    // Of K a thread copies one chunk. Eight contiguous keys of a lane are four rows of the product and the
    // four rows eight behind them: bits 2 and 3 trade places.
    static __device__ constexpr int copied_key(int thread)
    {
        return thread / row_chunks;
    }
    static __device__ constexpr int copied_column(int thread)
    {
        return thread % row_chunks;
    }
    static __device__ constexpr int k_write_at(int thread)
    {
        const int key = copied_key(thread);
        return ((key & ~12) | (key & 4) << 1 | (key & 8) >> 1) * k_row + copied_column(thread);
    }
    // Of V a thread copies four keys by two dims: the even dims of all threads go to the first half of the
    // rows, the odd ones to the second. Sixteen neighbouring lanes cover eight pairs of dims by two fours of
    // keys, and with them all banks, whether a store takes lanes 0..15 or 0..7 and 16..23 together.
    static __device__ constexpr int copied_pair(int thread)
    {
        const int low = thread % 8 | thread / 16 % 4 * 8;
        return HEAD_DIM == 64 ? low : low | thread / 64 % 2 * 32;
    }
    static __device__ constexpr int copied_four(int thread)
    {
        return (thread / 8 ^ thread / 16) % 2 | thread / HEAD_DIM * 2;
    }
    // In halves of a chunk.
    static __device__ constexpr int v_write_at(int thread, int odd)
    {
        return (copied_pair(thread) + odd * HEAD_DIM / 2) * v_row * 2 + copied_four(thread);
    }
    // The dim in a row of tile `tile` of dims.
    static __device__ constexpr int dim_of(int tile, int row)
    {
        const int at = tile * 32 + row;
        return at % (HEAD_DIM / 2) * 2 + at / (HEAD_DIM / 2);
    }

    // Brings a thread's share of K and V to LDS, by way of registers.
    class copier
    {
      public:
        __device__ copier(head_rows k, head_rows v) : k_(k), v_(v)
        {
        }
        __device__ __forceinline__ void fetch_k(int tile)
        {
            const uint32_t lane = bytes(k_, copied_key(thread())) + copied_column(thread()) * sizeof(chunk);
            mfma::fetch(held_k_, k_.row(tile * keys), rows_left(k_, tile), lane);
        }
        __device__ __forceinline__ void fetch_v(int tile)
        {
            const uint32_t lane =
                bytes(v_, copied_four(thread()) * 4) + copied_pair(thread()) * sizeof(uint32_t);
#pragma unroll
            for (int i = 0; i < 4; i++)
                mfma::fetch(held_v_[i], v_.row(tile * keys), rows_left(v_, tile), lane + bytes(v_, i));
        }
        __device__ __forceinline__ void put_k(chunk *slot) const
        {
            slot[k_write_at(thread())] = held_k_;
        }
        __device__ __forceinline__ void put_v(chunk *slot) const
        {
            auto *to = reinterpret_cast<uint64_t *>(slot) + v_write_at(thread(), 0);
            to[0] =
                joined(mfma::low_halves(held_v_[0], held_v_[1]), mfma::low_halves(held_v_[2], held_v_[3]));
            to[v_write_at(0, 1)] =
                joined(mfma::high_halves(held_v_[0], held_v_[1]), mfma::high_halves(held_v_[2], held_v_[3]));
        }

      private:
        static __device__ int thread()
        {
            return static_cast<int>(threadIdx.x);
        }
        static __device__ uint32_t bytes(head_rows of, int row)
        {
            return static_cast<uint32_t>(row) * of.stride * static_cast<uint32_t>(sizeof(uint16_t));
        }
        // Rows from the tile's first on, in bytes; beyond them there are zeros.
        static __device__ uint32_t rows_left(head_rows of, int tile)
        {
            int left = of.count - tile * keys;
            left = left < 0 ? 0 : left;
            mfma::pin_uniform(left); // else both limits are one vector instruction, and more follow
            return bytes(of, left < keys ? left : keys);
        }
        static __device__ uint64_t joined(uint32_t low, uint32_t high)
        {
            return static_cast<uint64_t>(high) << 32 | low;
        }

        head_rows k_, v_;
        chunk held_k_;
        uint32_t held_v_[4];
    };

    // ---- operands ----
    static __device__ void load(queries_held &q, head_rows from, int row)
    {
        const uint16_t *at = from.row(row < from.count ? row : from.count - 1) + first_key();
#pragma unroll
        for (int d = 0; d < dim_chunks; d++)
            q.at[d] = *reinterpret_cast<const chunk *>(at + d * 16);
    }
    static __device__ __forceinline__ void read_k(operands &to, const chunk *slot)
    {
        const chunk *from = slot + k_read_at(mfma::lane(), 0);
#pragma unroll
        for (int n = 0; n < products / 2; n++)
            to.at[n] = from[k_read_at(0, n)];
    }
    static __device__ __forceinline__ void read_v(operands &to, const chunk *slot)
    {
        const chunk *from = slot + v_read_at(mfma::lane(), 0);
#pragma unroll
        for (int n = 0; n < products / 2; n++)
            to.at[n] = from[v_read_at(0, n)];
    }

    // ---- products, one MFMA at a time: between(i) is what the wave does behind the i-th of 16 ----
    template <class BETWEEN>
    static __device__ __forceinline__ void score(scores &s, const operands &k, const queries_held &q,
                                                 BETWEEN between)
    {
#pragma unroll
        for (int n = 0; n < products / 2; n++)
            multiply(s.at[n % key_tiles], k.at[n], q.at[n / key_tiles], 2 * n, between);
    }
    template <class BETWEEN>
    static __device__ __forceinline__ void accumulate(output &o, const operands &v, const probabilities &p,
                                                      BETWEEN between)
    {
#pragma unroll
        for (int n = 0; n < products / 2; n++)
            multiply(o.at[n % dim_tiles], v.at[n], p.at[n / dim_tiles], 2 * n, between);
    }

    // P, cut to 16 bits.
    static __device__ __forceinline__ void cut(probabilities &p, const scores &s)
    {
#pragma unroll
        for (int n = 0; n < key_chunks; n++)
#pragma unroll
            for (int w = 0; w < 4; w++) {
                const int r = n % 2 * 8 + w * 2;
                p.at[n][w] = mfma::cut<FORMAT>(s.at[n / 2][r], s.at[n / 2][r + 1]);
            }
    }

    // This lane's part of its query's output, times `factor`. `out`: where the row's head starts.
    static __device__ void store(uint16_t *out, const output &o, float factor)
    {
        factor *= mfma::cut_factor<FORMAT>;
        each_eight(o, [&](int dim, const float(&x)[8]) {
            chunk packed = {};
#pragma unroll
            for (int w = 0; w < 4; w++)
                packed[w] = mfma::pack<FORMAT>(x[2 * w] * factor, x[2 * w + 1] * factor);
            *reinterpret_cast<chunk *>(out + dim) = packed;
        });
    }
    // The same in fp32 and unnormalised: dividing by the row's sum gives the output.
    static __device__ void store(float *out, const output &o)
    {
        constexpr float f = mfma::cut_factor<FORMAT>;
        each_eight(o, [&](int dim, const float(&x)[8]) {
            auto *to = reinterpret_cast<float4 *>(out + dim);
            to[0] = make_float4(x[0] * f, x[1] * f, x[2] * f, x[3] * f);
            to[1] = make_float4(x[4] * f, x[5] * f, x[6] * f, x[7] * f);
        });
    }
    static __device__ uint32_t pack(float low, float high)
    {
        return mfma::pack<FORMAT>(low, high);
    }

  private:
    // The two products of a chunk; one on gfx950, with the work of both behind it. phase() on either side of
    // between() keeps every clang from gathering the arithmetic of several products.
    template <class BETWEEN>
    static __device__ __forceinline__ void multiply(mfma::sum32 &c, const chunk &a, const chunk &b, int i,
                                                    BETWEEN between)
    {
        if constexpr (mfma::wide_products)
            mfma::product32_wide<FORMAT>(c, a, b);
        else
            mfma::product32<FORMAT, 0>(c, a, b);
        mfma::pin(c);
        mfma::phase();
        between(i);
        mfma::phase();
        if constexpr (!mfma::wide_products) {
            mfma::product32<FORMAT, 1>(c, a, b);
            mfma::pin(c);
            mfma::phase();
        }
        between(i + 1);
        mfma::phase();
    }
    // Calls f(first dim, values) for every eight dims that a lane holds of its query: the even ones come from
    // one tile of dims, the odd ones from the tile half a head further.
    template <class DO> static __device__ __forceinline__ void each_eight(const output &o, DO f)
    {
#pragma unroll
        for (int d = 0; d < dim_tiles / 2; d++)
#pragma unroll
            for (int r = 0; r < values; r += 4) {
                float x[8];
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    x[2 * i] = o.at[d][r + i];
                    x[2 * i + 1] = o.at[d + dim_tiles / 2][r + i];
                }
                f(dim_of(d, 2 * r + 4 * half()), x);
            }
    }
};
