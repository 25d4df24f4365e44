// What a block of v5's Hopper pipeline keeps in shared memory: the consumers' queries and outputs, a ring of
// tiles of keys and one of values, and the mbarriers that hand them over. The producer waits for `free` and
// fills; a consumer waits for `full` and, once it has read, arrives at `free`.
#pragma once

#include "device/fragment_wgmma.h"

namespace v5
{
// F: the consumers' fragment. CLUSTER: blocks that load tiles of keys and values for each other.
template <class F, int CONSUMERS, int STAGES, int CLUSTER> struct pipeline_memory {
    static constexpr int alignment = 1024; // required by TMA's 128-byte swizzle
    static constexpr int warps = 4;        // of a consumer

    // Byte offsets from `start`.
    static constexpr int o_at = CONSUMERS * F::query_bytes;
    static constexpr int k_at = o_at + CONSUMERS * F::query_bytes;
    static constexpr int v_at = k_at + STAGES * F::tile_bytes;
    static constexpr int barriers_at = v_at + STAGES * F::tile_bytes;
    static constexpr int next_slots = 2;
    static constexpr int work_tiles_at = barriers_at + 8 * (4 * STAGES + 2 * CONSUMERS + next_slots);
    static constexpr int next_at = work_tiles_at + 4 * CONSUMERS;
    static constexpr size_t bytes = alignment + next_at + 4 * next_slots;

    uint32_t start;

    // `chunk`: `bytes` of shared memory.
    static __device__ pipeline_memory in(const void *chunk)
    {
        return {(ptx::smem_address(chunk) + alignment - 1) / alignment * alignment};
    }

    __device__ uint32_t q(int consumer) const
    {
        return start + consumer * F::query_bytes;
    }
    __device__ uint32_t o(int consumer) const
    {
        return start + o_at + consumer * F::query_bytes;
    }
    __device__ uint32_t k(int stage) const
    {
        return start + k_at + stage * F::tile_bytes;
    }
    __device__ uint32_t v(int stage) const
    {
        return start + v_at + stage * F::tile_bytes;
    }
    // The index of the work tile whose queries a consumer has got.
    __device__ uint32_t work_tile(int consumer) const
    {
        return start + work_tiles_at + 4 * consumer;
    }

    // The index of a cluster's next work tile, which the first of its blocks tells both.
    __device__ uint32_t next(int slot) const
    {
        return start + next_at + 4 * slot;
    }

    __device__ uint32_t barrier(int i) const
    {
        return start + barriers_at + 8 * i;
    }
    __device__ uint32_t k_full(int stage) const
    {
        return barrier(stage);
    }
    __device__ uint32_t k_free(int stage) const
    {
        return barrier(STAGES + stage);
    }
    __device__ uint32_t v_full(int stage) const
    {
        return barrier(2 * STAGES + stage);
    }
    __device__ uint32_t v_free(int stage) const
    {
        return barrier(3 * STAGES + stage);
    }
    __device__ uint32_t q_full(int consumer) const
    {
        return barrier(4 * STAGES + consumer);
    }
    __device__ uint32_t q_free(int consumer) const
    {
        return barrier(4 * STAGES + CONSUMERS + consumer);
    }

    __device__ uint32_t next_full(int slot) const
    {
        return barrier(4 * STAGES + 2 * CONSUMERS + slot);
    }

    __device__ void init() const
    {
        if (threadIdx.x == 0) {
            for (int w = 0; w < CONSUMERS; w++) {
                hopper::mbarrier_init(q_full(w), 1);
                hopper::mbarrier_init(q_free(w), warps);
            }
            for (int i = 0; i < STAGES; i++) {
                hopper::mbarrier_init(k_full(i), 1);
                hopper::mbarrier_init(v_full(i), 1);
                hopper::mbarrier_init(k_free(i), CLUSTER * CONSUMERS * warps);
                hopper::mbarrier_init(v_free(i), CLUSTER * CONSUMERS * warps);
            }
            for (int i = 0; i < next_slots; i++)
                hopper::mbarrier_init(next_full(i), 1);
            hopper::fence_mbarrier_init();
        }
        if constexpr (CLUSTER > 1)
            hopper::cluster_sync();
        else
            __syncthreads();
    }

    // A block must not end while another one of its cluster still writes to its shared memory.
    __device__ void end() const
    {
        if constexpr (CLUSTER > 1)
            hopper::cluster_sync();
    }
};
} // namespace v5
