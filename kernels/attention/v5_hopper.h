// v5 on Hopper: the tile loop of v5_tiles.h, warp-specialised over three warpgroups.
// One producer warpgroup only issues TMA loads. Two or three consumer warpgroups compute, 64 queries each,
// and may run in ping-pong: while the WGMMAs of one occupy the tensor cores, the others compute their
// softmax. Within a consumer, the P V product of one tile overlaps with the Q K^T product of the next. Key
// tiles are processed from last to first, so that only the first one processed needs a mask, and it holds a
// key that every query sees, which keeps every running maximum finite. The kernel is persistent: one block
// per SM processes one work tile after another, and the producer already loads the next one. Work tiles are
// handed out by an atomic counter, because causal tiles differ in length: static round-robin scheduling was
// up to 20 % slower. Where there are only a few for each block, they are assigned in turn, back and forth.
// Two blocks may form a cluster, which processes two neighbouring work tiles of a head: each block loads half
// of every tile of keys into both, so that half as much is read from the L2 cache. The first block asks the
// counter, and tells both what comes next. With the causal mask its queries do not see the last tile of keys,
// which its consumers pass over.
#pragma once

#include "attention/v5.h"
#include "attention/v5_hopper_memory.h"
#include "attention/v5_split.h"

namespace v5
{
struct tensor_maps {
    CUtensorMap q, k, v, o;
};

// What turns the index of a work tile into heads. Made by the host.
struct divisors {
    prepared_sections order;
    divisor by_heads, by_group; // query heads of a sequence, and of a K/V head

    explicit divisors(const problem &p)
        : order({p.heads, p.section, p.tiles}), by_heads(p.q_heads), by_group(p.q_heads / p.kv_heads)
    {
    }
};

// CONSUMERS: 2, or 3 for heads of 64, whose accumulators leave room for the registers of one more.
// FULL: for the full mask only, which leaves most tiles of keys as they are.
// CLUSTER: blocks that share tiles of keys. 2 only with an even number of work tiles per head; problem::tiles
// then counts pairs of them.
template <format FORMAT, int HEAD_DIM, bool PING_PONG, bool SPLIT, int CONSUMERS = 2, bool FULL = false,
          int CLUSTER = 1>
struct pipeline {
    using F = warpgroup_fragment<FORMAT, HEAD_DIM>;
    static constexpr format type = FORMAT;
    static constexpr int consumers = CONSUMERS; // warpgroups
    static constexpr int cluster = CLUSTER;
    static constexpr int tile_queries = consumers * F::queries;
    static constexpr int stages = HEAD_DIM == 64 ? 4 : 2;
    static constexpr int threads = (1 + consumers) * 128;
    static constexpr int producer_registers = consumers == 3 ? 32 : 40; // per thread, by setmaxnreg
    static constexpr int consumer_registers = consumers == 3 ? 160 : 232;
    static constexpr int launch_registers = 65536 / threads / 8 * 8;
    static_assert(128 * (producer_registers + consumers * consumer_registers) <= threads * launch_registers,
                  "setmaxnreg.inc would wait forever for registers");
    // log2 of how far a probability may exceed 1 before the output is rescaled: fp16 has room for it, and
    // sums are in fp32.
    static constexpr float outgrown = 8.0f;
    static_assert(F::keys % F::queries == 0, "more than one tile would need a mask");
    static_assert(CLUSTER == 1 || stages <= CLUSTER, "tell_next() might write what was not yet read");
    static_assert(tile_queries == span || !SPLIT, "splits fall on tile boundaries");

    using layout = pipeline_memory<F, consumers, stages, CLUSTER>;
    static constexpr size_t shared_bytes = layout::bytes;

    using ring_position = hopper::ring_position<stages>;

    const problem &p;
    const divisors &by;
    const tensor_maps &maps;
    unsigned *counter; // work tiles handed out so far, not counting each cluster's first; null: in turn
    layout memory;

    __device__ work_tile work_tile_of(int index) const
    {
        work_tile at = work_tile::of<SPLIT>(p, by.order, index);
        if constexpr (CLUSTER > 1)
            at.tile = at.tile * CLUSTER + static_cast<int>(hopper::cluster_rank());
        return at;
    }
    // The first and the next index of a cluster. Back and forth, because causal work tiles become shorter: a
    // block with a long one gets a short one next. `taken` is what take() returned.
    __device__ int first_index() const
    {
        return static_cast<int>(blockIdx.x) / CLUSTER;
    }
    __device__ int index_after(int index, unsigned taken) const
    {
        const int blocks = static_cast<int>(gridDim.x) / CLUSTER;
        return counter ? blocks + static_cast<int>(taken) : (index / blocks + 1) * 2 * blocks - 1 - index;
    }
    // Without a branch, behind which the first load would wait for the counter.
    __device__ unsigned take() const
    {
        return ptx::add_if(counter && (CLUSTER == 1 || hopper::cluster_rank() == 0), counter, 1);
    }
    // Whether only the first block of a cluster takes work tiles, and tells both what comes next.
    __device__ bool is_told() const
    {
        return CLUSTER > 1 && counter;
    }
    // Called once the first keys of this work tile are being loaded, into a stage that both blocks filled for
    // the one before: so they have read its index, and the slot is free.
    __device__ void tell_next(int slot, int index) const
    {
        if constexpr (CLUSTER > 1) {
            if (!is_told() || hopper::cluster_rank() != 0)
                return;
            for (uint32_t rank = 0; rank < CLUSTER; rank++)
                hopper::store_at(memory.next(slot), static_cast<uint32_t>(index), memory.next_full(slot),
                                 rank);
        }
    }
    __device__ int next_told(int slot, uint32_t phase) const
    {
        hopper::mbarrier_arrive_expect_tx(memory.next_full(slot), 4);
        hopper::mbarrier_wait(memory.next_full(slot), phase);
        return static_cast<int>(ptx::ld_shared(memory.next(slot)));
    }

    // [begin, end), in tiles of keys.
    __device__ key_range key_tiles(const work_tile &at) const
    {
        work_tile last = at; // of the cluster
        last.tile |= CLUSTER - 1;
        const key_range keys = last.keys<SPLIT, tile_queries>(p);
        return {keys.begin / F::keys, (keys.end + F::keys - 1) / F::keys};
    }
    __device__ int work_tiles() const
    {
        return work_tile::count<SPLIT>(p);
    }

    // ---- producer: one thread issues every load ----
    __device__ void load(uint32_t to, const CUtensorMap *map, int rows, int head, int first, int batch,
                         uint32_t full) const
    {
        for (int panel = 0; panel < F::panels; panel++)
            hopper::tma_load(to + panel * rows * 128, map, {panel * 64, head, first, batch}, full);
    }

    // `head` is a work tile's: it counts the heads of all sequences.
    __device__ int batch_of(int head) const
    {
        return by.by_heads.quotient(head);
    }
    __device__ int q_head_of(int head) const
    {
        return head - batch_of(head) * p.q_heads;
    }
    __device__ int kv_head_of(int head) const
    {
        return by.by_group.quotient(q_head_of(head));
    }
    __device__ void load_tile(const CUtensorMap *map, uint32_t to, int kv_head, int batch, int t,
                              uint32_t full, uint32_t free, uint32_t phase) const
    {
        hopper::mbarrier_wait(free, phase ^ 1);
        hopper::mbarrier_arrive_expect_tx(full, F::tile_bytes);
        if constexpr (CLUSTER > 1)
            load_share(to, map, kv_head, t * F::keys, batch, full);
        else
            load(to, map, F::keys, kv_head, t * F::keys, batch, full);
    }
    // The first of the rows of a tile that this block loads for its cluster.
    static __device__ int first_of_share()
    {
        return CLUSTER == 1 ? 0 : static_cast<int>(hopper::cluster_rank()) * (F::keys / CLUSTER);
    }
    // This block's rows of a tile, into every block of the cluster.
    __device__ void load_share(uint32_t to, const CUtensorMap *map, int head, int first, int batch,
                               uint32_t full) const
    {
        const int from = first_of_share();
        for (int panel = 0; panel < F::panels; panel++)
            hopper::tma_load_multicast(to + (panel * F::keys + from) * 128, map,
                                       {panel * 64, head, first + from, batch}, full, (1u << CLUSTER) - 1);
    }
    // Q, together with the index of the work tile, which the consumer reads once Q has arrived. Each consumer
    // has its own, so that the first to finish a work tile does not wait for the other one's.
    __device__ void load_queries(int head, int batch, int first, int index, uint32_t phase) const
    {
        for (int w = 0; w < consumers; w++) {
            hopper::mbarrier_wait(memory.q_free(w), phase ^ 1);
            ptx::st_shared(memory.work_tile(w), index);
            hopper::mbarrier_arrive_expect_tx(memory.q_full(w), F::query_bytes);
            load(memory.q(w), &maps.q, F::queries, head, first + w * F::queries, batch, memory.q_full(w));
        }
    }

    __device__ void prefetch(const CUtensorMap *map, int head, int first, int batch) const
    {
        for (int panel = 0; panel < F::panels; panel++)
            hopper::tma_prefetch(map, {panel * 64, head, first, batch});
    }
    // What the first Q K^T needs, into the L2 cache: called while the grid before this one may still run, and
    // even write it.
    __device__ void prefetch_first() const
    {
        if (first_index() >= work_tiles())
            return;
        const work_tile at = work_tile_of(first_index());
        const int batch = batch_of(at.head);
        prefetch(&maps.k, kv_head_of(at.head), (key_tiles(at).end - 1) * F::keys + first_of_share(), batch);
        for (int w = 0; w < consumers; w++)
            prefetch(&maps.q, q_head_of(at.head), at.tile * tile_queries + w * F::queries, batch);
    }

    __device__ void produce() const
    {
        ring_position k, v;
        hopper::ring_position<layout::next_slots> next;
        uint32_t q_phase = 0;
        int index = first_index();
        while (index < work_tiles()) {
            const unsigned taken = take();
            const work_tile at = work_tile_of(index);
            const key_range tiles = key_tiles(at);
            // Not for each tile of keys: nothing may stand between a free stage and its load.
            const int batch = batch_of(at.head), head = q_head_of(at.head), kv_head = kv_head_of(at.head);
            for (int t = tiles.end - 1; t >= tiles.begin; t--) {
                load_tile(&maps.k, memory.k(k.stage), kv_head, batch, t, memory.k_full(k.stage),
                          memory.k_free(k.stage), k.phase);
                k.advance();
                if (t == tiles.end - 1)
                    load_queries(head, batch, at.tile * tile_queries, index, q_phase);
                load_tile(&maps.v, memory.v(v.stage), kv_head, batch, t, memory.v_full(v.stage),
                          memory.v_free(v.stage), v.phase);
                v.advance();
                if (t == tiles.end - 1)
                    tell_next(next.stage, index_after(index, taken));
            }
            q_phase ^= 1;
            index = is_told() ? next_told(next.stage, next.phase) : index_after(index, taken);
            next.advance();
        }
        for (int w = 0; w < consumers; w++) {
            hopper::mbarrier_wait(memory.q_free(w), q_phase ^ 1);
            ptx::st_shared(memory.work_tile(w), index);
            hopper::mbarrier_arrive(memory.q_full(w));
        }
    }

    // ---- consumers ----
    __device__ void release(uint32_t barrier) const
    {
        if (F::lane() == 0)
            hopper::mbarrier_arrive(barrier);
    }
    // A stage of keys or values, to every block that writes it.
    __device__ void release_stage(uint32_t barrier) const
    {
        if constexpr (CLUSTER == 1)
            release(barrier);
        else if (F::lane() < CLUSTER)
            hopper::mbarrier_arrive_at(barrier, static_cast<uint32_t>(F::lane()));
    }
    // Ping-pong as in FlashAttention-3's scheduler barrier: named barriers from 1 on order the consumers'
    // WGMMAs, in turn. Those from 1 + consumers on belong to one consumer each and order its use of the
    // output buffer.
    __device__ void scheduler_barrier_sync(int consumer) const
    {
        if constexpr (PING_PONG)
            hopper::named_barrier_sync(1 + consumer, 2 * 128);
    }
    __device__ void scheduler_barrier_arrive(int consumer) const
    {
        if constexpr (PING_PONG)
            hopper::named_barrier_arrive(1 + (consumer + 1) % consumers, 2 * 128);
    }
    static __device__ int output_barrier(int consumer)
    {
        return 1 + consumers + consumer;
    }

    // Read by the lane that releases Q, so that the read is complete before the producer writes the next
    // index.
    __device__ int next_work_tile(int consumer) const
    {
        const int index = F::lane() == 0 ? ptx::ld_shared(memory.work_tile(consumer)) : 0;
        return __shfl_sync(0xffffffffu, index, 0);
    }

    __device__ void consume(int consumer) const
    {
        ring_position k, v;
        uint32_t q_phase = 0;
        const uint32_t q = memory.q(consumer);
        if (consumer == consumers - 1)
            scheduler_barrier_arrive(consumer);
        for (;;) {
            hopper::mbarrier_wait(memory.q_full(consumer), q_phase);
            q_phase ^= 1;
            const int index = next_work_tile(consumer);
            if (index >= work_tiles())
                break;
            const work_tile at = work_tile_of(index);
            const int first = at.tile * tile_queries + consumer * F::queries;
            typename F::output o;
            softmax<F> rows;
            begin_output(rows, o, q, first, key_tiles(at), consumer, k, v);
            if constexpr (SPLIT) {
                finish_output(v);
                store_part<F>(p, at, first, o, rows);
            } else {
                const row_factors factor = prepare_write(rows, consumer);
                finish_output(v);
                write(o, factor, consumer, first, at.head);
            }
        }
        if (consumer == 0)
            scheduler_barrier_sync(consumer); // matches the last consumer's last arrive
        hopper::tma_store_wait();
    }

    // The last tile of keys that this consumer's queries see: those of three consumers, or of two blocks, end
    // in two tiles of keys.
    __device__ int last_tile(int first, key_range tiles) const
    {
        if constexpr (tile_queries <= F::keys && (CLUSTER == 1 || FULL))
            return tiles.end - 1;
        return (p.keys_of(first + F::queries - 1) + F::keys - 1) / F::keys - 1;
    }

    // Takes part in a tile that this consumer's queries do not see.
    __device__ void pass(int consumer, ring_position &k, ring_position &v) const
    {
        hopper::mbarrier_wait(memory.k_full(k.stage), k.phase);
        scheduler_barrier_sync(consumer);
        scheduler_barrier_arrive(consumer);
        release_stage(memory.k_free(k.stage));
        k.advance();
        hopper::mbarrier_wait(memory.v_full(v.stage), v.phase);
        release_stage(memory.v_free(v.stage));
        v.advance();
    }

    // Whether the work tile's last tile of keys holds one that a query does not see. With the causal mask
    // nearly every such tile does, and the branch costs 2 % of a short sequence.
    __device__ bool needs_mask(int last) const
    {
        return !FULL || p.seq < (last + 1) * F::keys;
    }

    // Returns while the last product is still running; finish_output() waits for it.
    __device__ __forceinline__ void begin_output(softmax<F> &rows, typename F::output &o, uint32_t q,
                                                 int first, key_range tiles, int consumer, ring_position &k,
                                                 ring_position &v) const
    {
        const int last = last_tile(first, tiles);
        typename F::scores s;
        typename F::probabilities probabilities;
        float keep[F::rows];
        const float slack = outgrown / p.scale;

        if (last < tiles.end - 1)
            pass(consumer, k, v);
        hopper::mbarrier_wait(memory.k_full(k.stage), k.phase);
        F::begin_score(s, q, memory.k(k.stage));
        hopper::wgmma_wait<0>();
        release_stage(memory.k_free(k.stage));
        k.advance();
        if (last == tiles.begin)
            release(memory.q_free(consumer));
        int limit[F::rows];
        for (int r = 0; r < F::rows; r++)
            limit[r] = p.keys_of(first + F::query(r)) - last * F::keys;
        if (needs_mask(last))
            mask<F>(s, limit);
        rows.absorb(s, keep, p.scale);
        F::round(probabilities, s);

        for (int t = last - 1; t >= tiles.begin; t--) {
            hopper::mbarrier_wait(memory.k_full(k.stage), k.phase);
            scheduler_barrier_sync(consumer);
            F::begin_score(s, q, memory.k(k.stage));
            hopper::mbarrier_wait(memory.v_full(v.stage), v.phase);
            F::begin_accumulate(o, probabilities, memory.v(v.stage), t < last - 1);
            scheduler_barrier_arrive(consumer);
            hopper::wgmma_wait<1>();
            release_stage(memory.k_free(k.stage));
            k.advance();
            // The next work tile's queries arrive during the last softmax of this one.
            if (t == tiles.begin)
                release(memory.q_free(consumer));
            const bool moved = rows.follow(s, keep, p.scale, slack);
            hopper::wgmma_wait<0>();
            release_stage(memory.v_free(v.stage));
            v.advance();
            if (moved)
                rescale<F>(o, keep);
            rows.exponentiate(s, p.scale);
            F::round(probabilities, s);
        }
        hopper::mbarrier_wait(memory.v_full(v.stage), v.phase);
        F::begin_accumulate(o, probabilities, memory.v(v.stage), last > tiles.begin);
    }

    __device__ __forceinline__ void finish_output(ring_position &v) const
    {
        hopper::wgmma_wait<0>();
        release_stage(memory.v_free(v.stage));
        v.advance();
    }

    // One over each row's sum.
    struct row_factors {
        float of[F::rows];
    };
    // Of a consumer's threads, the one that issues its stores.
    static __device__ bool is_leader()
    {
        return threadIdx.x % 128 == 0;
    }

    // What write() needs and the last product can hide: the factors, and a buffer that no store still reads.
    __device__ __forceinline__ row_factors prepare_write(const softmax<F> &rows, int consumer) const
    {
        row_factors factor;
        for (int r = 0; r < F::rows; r++)
            factor.of[r] = __fdividef(1.0f, rows.total(r));
        if (is_leader())
            hopper::tma_store_wait();
        hopper::named_barrier_sync(output_barrier(consumer), 128);
        return factor;
    }

    __device__ __forceinline__ void write(typename F::output &o, const row_factors &factor, int consumer,
                                          int first, int head) const
    {
        const uint32_t out = memory.o(consumer);
        rescale<F>(o, factor.of);
        F::put(out, o);
        hopper::fence_async_proxy();
        hopper::named_barrier_sync(output_barrier(consumer), 128);
        if (is_leader()) {
            for (int panel = 0; panel < F::panels; panel++)
                hopper::tma_store(&maps.o, {panel * 64, q_head_of(head), first, batch_of(head)},
                                  out + panel * F::query_panel_bytes);
            hopper::tma_store_commit();
        }
    }
};

template <class P>
__global__ void __launch_bounds__(P::threads, 1)
    attend_pipelined(const __grid_constant__ problem p, const __grid_constant__ divisors by,
                     const __grid_constant__ tensor_maps maps, unsigned *counter)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    HIP_DYNAMIC_SHARED(chunk, smem)
    const P work{p, by, maps, counter, P::layout::in(smem)};
    if (threadIdx.x == 0)
        work.prefetch_first();
    work.memory.init();
    hopper::grid_dependency_wait();
    hopper::grid_dependents_launch();
    const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
    if (warpgroup == 0) {
        hopper::setmaxnreg_dec<P::producer_registers>();
        if (threadIdx.x == 0)
            work.produce();
    } else {
        hopper::setmaxnreg_inc<P::consumer_registers>();
        work.consume(warpgroup - 1);
    }
    work.memory.end();
#endif
}

// The counter of work tiles is reset by a grid of one thread instead of a memset, so that the pipeline's grid
// may start before the one in front of both has ended: this one waits for that, the pipeline for this one.
static __global__ void reset_counter(unsigned *counter)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    hopper::grid_dependents_launch();
    hopper::grid_dependency_wait();
    *counter = 0;
#endif
}

template <class F> __global__ void __launch_bounds__(merge_threads) merge_parts_dependent(problem p)
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    hopper::grid_dependency_wait();
    hopper::grid_dependents_launch();
    merge_query<F>(p);
#endif
}
} // namespace v5
