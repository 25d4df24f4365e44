// Who attends which work tile in v5's ping-pong form. Blocks stay, one on each CU, and take work tiles from
// queues, by an atomic counter each; a queue has its longest work tiles first, so that the short ones fill
// the tail. Blocks are dealt to the chiplets (XCDs) of an MI300X in turn, and each chiplet has an L2 of its
// own. So there are up to eight queues, each with all query heads of its share of the K/V heads, and block b
// begins with queue b % queues: a K/V head is then read by one chiplet only. A block whose queue is empty
// goes on with the next one. Results do not depend on who attends what. Knows nothing of how a work tile is
// attended.
#pragma once

#include "attention/v5.h"

namespace v5
{
constexpr int chiplets = 8;
constexpr int counter_stride = 16; // counters, apart by a cache line

struct queues {
    unsigned *taken; // of every queue: work tiles, at counter_stride
    int log_count;   // of queues: 2^log_count divides the K/V heads of all batches, and `chiplets`
    int work_tiles;  // of a queue

    __device__ int count() const
    {
        return 1 << log_count;
    }
    // The queue's heads keep their order; K/V heads are dealt to the queues in turn.
    __device__ int head_of(const problem &p, int queue, int nth) const
    {
        const int group = p.q_heads / p.kv_heads;
        return ((nth / group << log_count) + queue) * group + nth % group;
    }
    template <bool SPLIT> __device__ work_tile work_tile_of(const problem &p, int queue, int nth) const
    {
        problem mine = p;
        mine.heads = p.heads >> log_count;
        mine.section = mine.heads; // all chiplets share one cache behind their L2
        work_tile at = work_tile::of<SPLIT>(mine, nth);
        at.head = head_of(p, queue, at.head);
        return at;
    }
};

// Where a block takes its next work tile from: `nth` of `queue`, if `nth` is not negative.
struct queue_position {
    int queue, nth, left;

    __device__ queue_position(const queues &all, int block)
        : queue(block % all.count()), nth(-1), left(all.count())
    {
    }

    // Moves on to a work tile that no block had yet.
    __device__ void take(const queues &all)
    {
        for (; left > 0; left--) {
            const unsigned next = next_of(all.taken + queue * counter_stride);
            nth = static_cast<int>(next);
            if (next < static_cast<unsigned>(all.work_tiles))
                return;
            queue = (queue + 1) % all.count();
        }
        nth = -1;
    }

  private:
    static __device__ unsigned next_of(unsigned *counter)
    {
#if defined(KS_PLATFORM_AMD)
        return __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
        return __atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED);
#endif
    }
};

// As many queues as divide both the K/V heads and the chiplets.
inline int queue_count(int kv_heads)
{
    int count = chiplets;
    while (kv_heads % count != 0)
        count /= 2;
    return count;
}

inline queues describe_queues(int kv_heads, int work_tiles, unsigned *counters)
{
    const int count = queue_count(kv_heads);
    return {counters, count == 8 ? 3 : count / 2, work_tiles / count};
}
} // namespace v5
