// A GEMM on Hopper whose epilogue does what would otherwise be a pass over memory of its own: y = f(x W^T).
// One producer warpgroup issues TMA loads; two consumer warpgroups compute 64 rows of x by 256 rows of W
// each, two halves of 128 that need not be neighbours. The kernel is persistent, so the next work tile is
// loaded during an epilogue, and one consumer's epilogue overlaps with the other's products. Two blocks form
// a cluster, which shares the rows of W: each block loads one half into both. The producer's other warps can
// assist an epilogue by passes over memory for which the consumers would have to stop.
#pragma once

#include "device/fragment_wgmma.h"

namespace products
{
// x has rows of `in` numbers, and so has w. y: the tensors that an epilogue writes, at most three.
struct tensor_maps {
    CUtensorMap x, w, y[3];
};

struct shape {
    int steps;     // of 64 along the sum
    int row_pairs; // of work tiles: the two blocks of a cluster
    int columns;   // work tiles across
    int section;   // row pairs processed together, whose part of x stays in the L2 cache
};

// As in fused.h.
struct row_norms {
    const float *squares; // [parts][rows]; null: x is normalised
    int parts, rows;
    float inverse_width, eps;
};

template <format FORMAT> struct pipeline {
    using F = warpgroup_fragment<FORMAT, 128>; // a consumer's half
    using accumulators = float[32][4];         // half h begins at 16 h
    static constexpr int consumers = 2;
    static constexpr int cluster = 2;
    static constexpr int stages = 4;
    static constexpr int tile_rows = consumers * F::queries;
    static constexpr int half = 128; // rows of W
    static constexpr int step = 64;  // of the sum: a row of 128 bytes
    static constexpr int x_bytes = tile_rows * step * 2;
    static constexpr int half_bytes = half * step * 2;
    static constexpr int stage_bytes = x_bytes + 2 * half_bytes;
    static constexpr int threads = (1 + consumers) * 128;
    static constexpr int producer_registers = 40; // per thread, by setmaxnreg
    static constexpr int consumer_registers = 232;
    static constexpr int alignment = 1024; // required by TMA's 128-byte swizzle
    static constexpr int y_at = stages * stage_bytes;
    static constexpr int barriers_at = y_at + consumers * F::query_bytes;
    static constexpr size_t shared_bytes = alignment + barriers_at + 2 * 8 * stages + 2 * 8;
    static constexpr int assistants = 3; // warps of the producer's warpgroup
    static constexpr int all_assistants = assistants + 4 * consumers;

    struct place {
        int row, column; // row: of x; column: which work tile across
    };
    using ring_position = hopper::ring_position<stages>;

    const shape &s;
    const tensor_maps &maps;
    const row_norms &norms;
    uint32_t start; // of the block's shared memory

    __device__ uint32_t x(int stage) const
    {
        return start + stage * stage_bytes;
    }
    __device__ uint32_t w(int stage) const
    {
        return x(stage) + x_bytes;
    }
    __device__ uint32_t y(int consumer) const
    {
        return start + y_at + consumer * F::query_bytes;
    }
    __device__ uint32_t full(int stage) const
    {
        return start + barriers_at + 8 * stage;
    }
    __device__ uint32_t free(int stage) const
    {
        return start + barriers_at + 8 * (stages + stage);
    }

    // A tile of y is in global memory; the assistants are done with it.
    __device__ uint32_t written() const
    {
        return free(stages);
    }
    __device__ uint32_t taken() const
    {
        return written() + 8;
    }

    __device__ void init() const
    {
        if (threadIdx.x == 0) {
            hopper::mbarrier_init(written(), consumers);
            hopper::mbarrier_init(taken(), assistants);
            for (int i = 0; i < stages; i++) {
                hopper::mbarrier_init(full(i), 1);
                hopper::mbarrier_init(free(i), cluster * consumers * 4); // warps
            }
            hopper::fence_mbarrier_init();
        }
        hopper::cluster_sync();
    }

    __device__ int work_tiles() const
    {
        return s.row_pairs * s.columns;
    }
    __device__ place at(int index) const
    {
        const int size = s.section * s.columns, first = index / size * s.section, in = index % size;
        const int rows = s.row_pairs - first < s.section ? s.row_pairs - first : s.section;
        const int pair = first + in % rows;
        return {(pair * cluster + static_cast<int>(hopper::cluster_rank())) * tile_rows, in / rows};
    }
    // f(work tile) for those of this block.
    template <class DO> __device__ __forceinline__ void each(DO f) const
    {
        for (int i = first_tile(); i < work_tiles(); i += tiles_at_once())
            f(at(i));
    }
    __device__ int first_tile() const
    {
        return static_cast<int>(blockIdx.x) / cluster;
    }
    __device__ int tiles_at_once() const
    {
        return static_cast<int>(gridDim.x) / cluster;
    }

    // Epilogue::row_of(column, half): the first row of W of that half.
    template <class EPILOGUE> __device__ void produce(const EPILOGUE &epilogue) const
    {
        const int rank = static_cast<int>(hopper::cluster_rank());
        ring_position ring;
        each([&](const place &tile) {
            const int w_row = epilogue.row_of(tile.column, rank);
            for (int k = 0; k < s.steps; k++) {
                hopper::mbarrier_wait(free(ring.stage), ring.phase ^ 1);
                hopper::mbarrier_arrive_expect_tx(full(ring.stage), stage_bytes);
                hopper::tma_load(x(ring.stage), &maps.x, {k * step, 0, tile.row, 0}, full(ring.stage));
                hopper::tma_load_multicast(w(ring.stage) + rank * half_bytes, &maps.w,
                                           {k * step, 0, w_row, 0}, full(ring.stage), (1u << cluster) - 1);
                ring.advance();
            }
        });
    }

    __device__ void release(int stage) const
    {
        if (F::lane() < cluster)
            hopper::mbarrier_arrive_at(free(stage), static_cast<uint32_t>(F::lane()));
    }

    // Epilogue::ahead(row, column) loads what Epilogue::store(c, ahead, consumer, row, column) needs, while
    // the last product runs.
    template <class EPILOGUE> __device__ void consume(int consumer, const EPILOGUE &epilogue) const
    {
        ring_position ring;
        const int patience = min(8, s.steps) - 1; // steps in which the tile before is stored
        int tiles = 0;
        each([&](const place &tile) {
            accumulators c;
            int last = 0;
            for (int k = 0; k < s.steps; k++) {
                if (EPILOGUE::assisted && k == patience && tiles > 0)
                    announce(tiles - 1);
                hopper::mbarrier_wait(full(ring.stage), ring.phase);
                const hopper::operand rows(x(ring.stage) + consumer * F::query_panel_bytes, 16),
                    columns(w(ring.stage), 16);
                hopper::wgmma_fence();
#pragma unroll
                for (int i = 0; i < step; i += 16)
                    hopper::wgmma<FORMAT>(c, rows.at(i * 2), columns.at(i * 2), k > 0 || i > 0);
                hopper::wgmma_commit();
                if (k > 0) {
                    hopper::wgmma_wait<1>();
                    release(last);
                }
                last = ring.stage;
                ring.advance();
            }
            const int row = tile.row + consumer * F::queries;
            const auto ahead = epilogue.ahead(row, tile.column);
            const float2 scale = norms.squares ? scale_of(row) : float2{};
            hopper::wgmma_wait<0>();
            release(last);
            if (norms.squares)
                multiply_rows(c, scale);
            epilogue.store(c, ahead, consumer, row, tile.column);
            tiles++;
        });
        if constexpr (EPILOGUE::assisted) {
            if (tiles > 0)
                assist_last(tiles - 1, consumer, epilogue);
        }
        hopper::tma_store_wait();
    }

    // After the last tile the consumers are idle, so they assist as well.
    template <class EPILOGUE>
    __device__ void assist_last(int tile, int consumer, const EPILOGUE &epilogue) const
    {
        announce(tile);
        hopper::mbarrier_wait(written(), tile % 2);
        epilogue.behind(at(first_tile() + tile * tiles_at_once()), assistants + 4 * consumer + F::warp(),
                        all_assistants);
    }

    // Tells the assistants that this consumer's part of a tile of y is in global memory. Waits until they are
    // done with the tile before, so that they are never more than one phase behind.
    __device__ void announce(int tile) const
    {
        if (threadIdx.x % 128 != 0)
            return;
        hopper::tma_store_end();
        hopper::mbarrier_wait(taken(), tile % 2 ^ 1);
        hopper::mbarrier_arrive(written());
    }

    // Epilogue::behind(tile, assistant, all): what `all` warps do together once the tile of y is in global
    // memory, while the consumers compute the next one.
    template <class EPILOGUE> __device__ void assist(int assistant, const EPILOGUE &epilogue) const
    {
        int tiles = 0;
        each([&](const place &tile) {
            hopper::mbarrier_wait(written(), tiles % 2);
            const bool last = first_tile() + (tiles + 1) * tiles_at_once() >= work_tiles();
            epilogue.behind(tile, assistant, last ? all_assistants : assistants);
            __syncwarp();
            if (F::lane() == 0)
                hopper::mbarrier_arrive(taken());
            tiles++;
        });
    }

    // The scales of this lane's two rows. Four lanes share a row and divide its parts among themselves.
    __device__ __forceinline__ float2 scale_of(int row) const
    {
        return make_float2(scale_of_one(row + F::query(0)), scale_of_one(row + F::query(1)));
    }
    __device__ __forceinline__ float scale_of_one(int row) const
    {
        const int known = row < norms.rows ? row : norms.rows - 1;
        float sum = 0.0f;
#pragma unroll 4
        for (int part = F::lane() % 4; part < norms.parts; part += 4)
            sum += norms.squares[static_cast<size_t>(part) * norms.rows + known];
        return rsqrtf(F::row_sum(sum) * norms.inverse_width + norms.eps);
    }
    static __device__ __forceinline__ void multiply_rows(accumulators &c, float2 by)
    {
#pragma unroll
        for (int j = 0; j < 32; j++)
            c[j][0] *= by.x, c[j][1] *= by.x, c[j][2] *= by.y, c[j][3] *= by.y;
    }

    // Writes panel `panel` of c, 64 columns, to a tensor from (row, column) on. Elements beyond the tensor
    // are not written. Two panels fit in shared memory and are used alternately.
    __device__ __forceinline__ void write(const accumulators &c, int panel, int consumer,
                                          const CUtensorMap *map, int row, int column) const
    {
        const uint32_t to = y(consumer) + panel % 2 * F::query_panel_bytes;
        const bool leader = threadIdx.x % 128 == 0;
        if (leader)
            hopper::tma_store_wait<1>(); // the store before the last one still reads this panel
        hopper::named_barrier_sync(1 + consumer, 128);
        const int at = F::warp() * 16 + F::lane() % 16;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t packed[4];
            ptx::pack_rows<FORMAT>(packed, c[8 * panel + 2 * i], c[8 * panel + 2 * i + 1]);
            hopper::stmatrix(to + at * 128 + ((2 * i + F::lane() / 16) ^ at % 8) * 16, packed);
        }
        hopper::fence_async_proxy();
        hopper::named_barrier_sync(1 + consumer, 128);
        if (leader) {
            hopper::tma_store(map, {column, 0, row, 0}, to);
            hopper::tma_store_commit();
        }
    }
};

struct nothing { // to load ahead
};

// y = silu(x G^T) * (x U^T), W = [G | U].
template <format FORMAT> struct gated : pipeline<FORMAT> {
    using P = pipeline<FORMAT>;
    static constexpr bool assisted = false;
    struct parameters {
        int width; // rows of G
    };
    parameters to;

    __device__ int row_of(int column, int half) const
    {
        return half * to.width + column * P::half;
    }
    __device__ nothing ahead(int, int) const
    {
        return {};
    }
    __device__ __forceinline__ void store(typename P::accumulators &c, nothing, int consumer, int row,
                                          int column) const
    {
#pragma unroll
        for (int j = 0; j < 16; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                c[j][e] = silu(c[j][e]) * c[16 + j][e];
        }
#pragma unroll
        for (int panel = 0; panel < 2; panel++)
            this->write(c, panel, consumer, &this->maps.y[0], row, column * P::half + panel * 64);
    }
    // x / (1 + e^-x) by one special function instead of two.
    static __device__ __forceinline__ float silu(float x)
    {
        const float half = 0.5f * x;
        return half * hopper::tanh_fast(half) + half;
    }
};

// Columns [q | k | v] to three tensors, q and k turned by RoPE in pairs (2i, 2i+1) of a head's first dims.
template <format FORMAT> struct turned : pipeline<FORMAT> {
    using P = pipeline<FORMAT>;
    using typename P::F;
    static constexpr bool assisted = false;
    struct parameters {
        const float2 *turns; // [row][rope_dims / 2]: cosine and sine
        int rows;
        int q_columns, kv_columns;
        int head_dim, rope_dims;
    };
    parameters to;
    // The factors for 32 columns: this lane's pairs in its two rows.
    struct turns {
        float2 of[4][2];
    };

    __device__ int row_of(int column, int half) const
    {
        return (2 * column + half) * P::half;
    }
    __device__ __forceinline__ turns ahead(int row, int column) const
    {
        return is_turned(row_of(column, 0)) ? turns_of(row, 0) : turns{};
    }
    __device__ __forceinline__ void store(typename P::accumulators &c, const turns &first, int consumer,
                                          int row, int column) const
    {
        if (is_turned(row_of(column, 0)))
            turn_halves(c, first, row, is_turned(row_of(column, 1)));
#pragma unroll
        for (int panel = 0; panel < 4; panel++) {
            const target at = target_of(row_of(column, 0) + panel * 64);
            this->write(c, panel, consumer, &this->maps.y[at.tensor], row, at.column);
        }
    }

  private:
    __device__ bool is_turned(int column) const
    {
        return column < to.q_columns + to.kv_columns;
    }
    // Both halves begin with a head, so they are turned by the same factors.
    __device__ __forceinline__ void turn_halves(typename P::accumulators &c, turns by, int row,
                                                bool both) const
    {
#pragma unroll
        for (int part = 0; part < 4; part++) {
            const turns next = part < 3 ? turns_of(row, (part + 1) * 32) : turns{};
            turn(c, part, by);
            if (both)
                turn(c, 4 + part, by);
            by = next;
            asm volatile("" ::: "memory"); // all loads at once would need too many registers
        }
    }
    __device__ __forceinline__ turns turns_of(int row, int column) const
    {
        turns t;
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int r = 0; r < 2; r++)
                t.of[j][r] = turn_of(row + F::query(r), (column + F::key(j, 0)) & (to.head_dim - 1));
        }
        return t;
    }
    __device__ __forceinline__ float2 turn_of(int row, int dim) const
    {
        if (dim >= to.rope_dims)
            return make_float2(1.0f, 0.0f);
        const int known = row < to.rows ? row : to.rows - 1;
        return to.turns[static_cast<size_t>(known) * (to.rope_dims / 2) + dim / 2];
    }
    static __device__ __forceinline__ void turn(typename P::accumulators &c, int part, const turns &by)
    {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float(&x)[4] = c[4 * part + j];
            const float2 a = by.of[j][0], b = by.of[j][1];
            const float4 y = make_float4(x[0] * a.x - x[1] * a.y, x[0] * a.y + x[1] * a.x,
                                         x[2] * b.x - x[3] * b.y, x[2] * b.y + x[3] * b.x);
            x[0] = y.x, x[1] = y.y, x[2] = y.z, x[3] = y.w;
        }
    }
    struct target {
        int tensor, column; // 0: q, 1: k, 2: v; behind v's last column nothing is written
    };
    __device__ target target_of(int column) const
    {
        const int in_k = column - to.q_columns, in_v = in_k - to.kv_columns;
        if (in_k < 0)
            return {0, column};
        if (in_v < 0)
            return {1, in_k};
        return {2, in_v};
    }
};

// Computes y = x W^T. The assistants then compute stream += y, y = stream * weight, and the sum of squares of
// each row of stream, one part per work tile across. They move 14 bytes per number, for which the consumers
// would have to wait as long as for a pass over memory.
struct summed : pipeline<format::bf16> {
    using P = pipeline<format::bf16>;
    static constexpr bool assisted = true;
    static constexpr int producer_registers = 72;
    static constexpr int consumer_registers = 216;
    static constexpr int columns = 2 * P::half; // of a work tile; divides the width
    static constexpr int at_once = 2;           // rows of an assistant, so that their loads overlap
    struct parameters {
        uint16_t *y; // [rows, width], as is stream
        float *stream;
        const float *weight;
        float *squares; // [width / columns][rows]
        int rows, width;
    };
    parameters to;

    __device__ int row_of(int column, int half) const
    {
        return (2 * column + half) * P::half;
    }
    __device__ nothing ahead(int, int) const
    {
        return {};
    }
    __device__ __forceinline__ void store(accumulators &c, nothing, int consumer, int row, int column) const
    {
#pragma unroll
        for (int panel = 0; panel < 4; panel++)
            this->write(c, panel, consumer, &this->maps.y[0], row, column * columns + panel * 64);
    }
    __device__ void behind(const place &tile, int assistant, int all) const
    {
        const int end = min(tile.row + P::tile_rows, to.rows);
        for (int row = tile.row + assistant * at_once; row < end; row += all * at_once)
            add_rows(row, end, tile.column);
    }

  private:
    // A lane's eight numbers of a row.
    struct numbers {
        uint4 y;
        alignas(16) float sum[8];
    };

    static __device__ float4 &quad(numbers &n, int half)
    {
        return reinterpret_cast<float4 *>(n.sum)[half];
    }
    __device__ size_t at(int row, int column) const
    {
        return static_cast<size_t>(row) * to.width + column * columns + F::lane() * 8;
    }
    __device__ __forceinline__ void add_rows(int row, int end, int column) const
    {
        numbers n[at_once];
#pragma unroll
        for (int i = 0; i < at_once; i++) {
            const size_t from = at(min(row + i, end - 1), column);
            n[i].y = __ldcg(reinterpret_cast<const uint4 *>(to.y + from));
#pragma unroll
            for (int half = 0; half < 2; half++)
                quad(n[i], half) = __ldcg(reinterpret_cast<const float4 *>(to.stream + from) + half);
        }
#pragma unroll
        for (int i = 0; i < at_once; i++) {
            if (row + i < end)
                add(n[i], row + i, column);
        }
    }
    __device__ __forceinline__ void add(numbers &n, int row, int column) const
    {
        const uint32_t y[4] = {n.y.x, n.y.y, n.y.z, n.y.w};
        float squares = 0.0f;
        uint32_t weighted[4];
        const float *by = to.weight + column * columns + F::lane() * 8;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 w = *reinterpret_cast<const float2 *>(by + 2 * i);
            const float low = n.sum[2 * i] += __uint_as_float(y[i] << 16),
                        high = n.sum[2 * i + 1] += __uint_as_float(y[i] & 0xffff0000u);
            squares += low * low + high * high;
            weighted[i] = ptx::pack<format::bf16>(low * w.x, high * w.y);
        }
        const size_t to_row = at(row, column);
#pragma unroll
        for (int half = 0; half < 2; half++)
            __stcg(reinterpret_cast<float4 *>(to.stream + to_row) + half, quad(n, half));
        *reinterpret_cast<uint4 *>(to.y + to_row) =
            make_uint4(weighted[0], weighted[1], weighted[2], weighted[3]);
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2)
            squares += __shfl_xor(squares, lanes, 32);
        if (F::lane() == 0)
            to.squares[static_cast<size_t>(column) * to.rows + row] = squares;
    }
};

template <class P>
__global__ void __launch_bounds__(P::threads, 1)
    multiply(const __grid_constant__ shape s, const __grid_constant__ tensor_maps maps,
             const __grid_constant__ row_norms norms, const __grid_constant__ typename P::parameters to)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    HIP_DYNAMIC_SHARED(chunk, smem)
    const uint32_t start = (ptx::smem_address(smem) + P::alignment - 1) / P::alignment * P::alignment;
    const P work{{s, maps, norms, start}, to};
    work.init();
    hopper::grid_dependency_wait();
    hopper::grid_dependents_launch();
    const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
    if (warpgroup == 0) {
        hopper::setmaxnreg_dec<P::producer_registers>();
        if (threadIdx.x == 0)
            work.produce(work);
        if constexpr (P::assisted) {
            if (threadIdx.x >= 32)
                work.assist(static_cast<int>(threadIdx.x) / 32 - 1, work);
        }
    } else {
        hopper::setmaxnreg_inc<P::consumer_registers>();
        work.consume(warpgroup - 1, work);
    }
    hopper::cluster_sync(); // the other block still writes to this one's shared memory
#endif
}
} // namespace products
