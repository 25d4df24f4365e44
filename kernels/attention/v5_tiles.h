// v5's portable tile loop: one block takes one work tile, loops over the tiles of keys its queries see, and
// keeps an online softmax (FlashAttention-2). Everything specific to an architecture is in the fragment.
#pragma once

#include "attention/v5.h"

namespace v5
{
// First tile to last, so that the first tile always holds a key that the row sees and its maximum is finite.
template <class F, bool SPLIT> __device__ void attend(const problem &p, const work_tile &at, void *shared)
{
    static_assert(F::block_queries == span && span % F::keys == 0, "splits fall on tile boundaries");
    const int first = at.tile * span;
    const int mine = first + static_cast<int>(threadIdx.x) / F::wave * F::queries;
    const key_range keys = at.keys<SPLIT>(p);
    const int tiles = (keys.end + F::keys - 1) / F::keys;
    typename F::loader tile(shared, p.queries(at.head, F::head_dim), first, p.keys(at.head, F::head_dim),
                            p.values(at.head, F::head_dim));
    typename F::output o = {};
    typename F::scores s;
    softmax<F> rows;

    const int begin = keys.begin / F::keys;
    tile.begin(begin);
    for (int t = begin; t < tiles; t++) {
        tile.arrive();
        if (t + 1 < tiles)
            tile.begin(t + 1);

        F::score(s, tile);
        const int key = t * F::keys;
        if (key + F::keys > p.keys_of(first)) {
            int limit[F::rows];
            for (int r = 0; r < F::rows; r++)
                limit[r] = p.keys_of(mine + F::query(r)) - key;
            mask<F>(s, limit);
        }
        float keep[F::rows];
        rows.absorb(s, keep, p.scale);
        rescale<F>(o, keep);
        F::accumulate(o, s, tile);
    }

    if constexpr (SPLIT) {
        store_part<F>(p, at, mine, o, rows);
        return;
    }
    const head_rows out = p.queries(at.head, F::head_dim);
#pragma unroll
    for (int r = 0; r < F::rows; r++) {
        const int row = mine + F::query(r);
        const float factor = 1.0f / rows.total(r);
        if (row < p.seq)
            F::store(p.o + (out.row(row) - p.q), o, r, factor);
    }
}

template <class F, bool SPLIT>
__global__ void __launch_bounds__(F::threads, F::blocks_a_core) attend_tiles(problem p)
{
    HIP_DYNAMIC_SHARED(chunk, shared)
    attend<F, SPLIT>(p, work_tile::of<SPLIT>(p, static_cast<int>(blockIdx.x)), shared);
}
} // namespace v5
