// v5's ping-pong form for CDNA (gfx942, gfx950). A block of eight waves attends 256 queries of one head. Its
// waves are two groups; each SIMD of the CU has one wave of either. A step handles 32 keys (64 at head size
// 64) in four sections, which end at barriers, and group B is one section behind group A, so that one group
// multiplies while the other one waits for memory:
//
//   section   1            2            3            4            5 = 1 of the next step
//   group A   read K(t)    S = K(t) Q   read V(t-1)  O += P V     read K(t+1)
//             cut P(t-1)   rescale O    max of S     exp of S
//             copy
//   group B   O += P V     read K(t)    S = K(t) Q   read V(t-1)  O += P V
//
// "copy": each thread stores the share of K(t+1) and V(t) that it fetched a step ago to LDS, and fetches its
// share of K(t+2) and V(t+1). The sections with products have all operands in registers; the vector
// instructions that stand beside a product in this table are dealt out behind its 16 MFMAs one by one. The
// scheduler may not move them (mfma::pin, mfma::phase): every clang from 17 to 22 emits the same sequence,
// which tools/v5_schedule_check holds it to. They are not packed where they hide behind MFMAs, because packed
// fp32 instructions cannot issue beside them.
//
// Why two slots a ring suffice, with slot numbers as sections since the start (A's step t begins at 4t):
//   K(t+1) is stored at 4t by A and 4t + 1 by B, and read from 4t + 4 on; it replaces K(t-1), read by B at 4t
//   - 3. V(t) is stored at 4t and 4t + 1, and read from 4t + 6 on; it replaces V(t-2), read by B at 4t - 1.
#pragma once

#include "attention/v5_queue.h"
#include "device/fragment_mfma32.h"

namespace v5
{
template <class F, bool SPLIT> class ping_pong
{
  public:
    __device__ ping_pong(const problem &p, const work_tile &at, chunk *lds)
        : p_(p), at_(at), lds_(lds), wave_(mfma::uniform(static_cast<int>(threadIdx.x) / F::wave)),
          mine_(at.tile * F::block_queries + wave_ * F::queries),
          copy_(p.keys(at.head, F::head_dim), p.values(at.head, F::head_dim))
    {
    }

    // All waves of a block execute the same number of barriers, though each its own sequence of steps.
    __device__ __forceinline__ void attend()
    {
        const steps my = steps_of(at_.keys<SPLIT, F::block_queries>(p_));
        F::load(q_, p_.queries(at_.head, F::head_dim), mine_ + F::query());
        prepare(my.begin);
        int t = my.begin;
        step<true, false, true>(t++);
        for (; t < my.full; t++)
            step<true, true, false>(t);
        for (; t < my.end; t++)
            step<true, true, true>(t);
        step<false, true, false>(t++);
        for (; t <= my.block_end; t++)
            step<false, false, false>(t);
        if (group() == 0)
            mfma::barrier();
    }

    __device__ void store() const
    {
        const float sum = even_sum_ + odd_sum_;
        const float total = sum + F::across(sum);
        const int row = mine_ + F::query();
        if (row >= p_.seq)
            return;
        if constexpr (SPLIT) {
            const size_t query = at_.part * p_.queries_in_all() + p_.query_offset(at_.head, 1) +
                                 static_cast<size_t>(row) * p_.q_heads;
            F::store(p_.part.o + query * F::head_dim, o_);
            if (F::half() == 0)
                p_.part.sums[query] = make_float2(max_ * p_.scale, total);
        } else {
            const head_rows out = p_.queries(at_.head, F::head_dim);
            F::store(p_.o + (out.row(row) - p_.q), o_, 1.0f / total);
        }
    }

  private:
    static constexpr int scores = F::key_tiles * F::values;  // of a lane
    static constexpr int outputs = F::dim_tiles * F::values; // of a lane
    static constexpr int width = scores / F::products;       // exponentials per product of P V
    static_assert(width == 1 || width == 2, "single values or pairs");
    // A wave whose exponentials take longer than its products would keep the other group's wave from its
    // memory.
    static constexpr bool products_first = width == 1;

    // Steps begin..block_end hold the block's keys. This wave's queries see all keys of steps before `full`,
    // and none of those from `end` on.
    struct steps {
        int begin, full, end, block_end;
    };
    __device__ steps steps_of(const key_range &keys) const
    {
        const int seen_by_all = least(keys.end, p_.keys_of(mine_));
        const int seen = least(keys.end, p_.keys_of(mine_ + F::queries - 1));
        const int begin = keys.begin / F::keys;
        const int block_end = (keys.end + F::keys - 1) / F::keys;
        if (mine_ >= p_.seq) // no queries
            return {begin, begin, begin + 1, block_end};
        return {begin, seen_by_all / F::keys, (seen + F::keys - 1) / F::keys, block_end};
    }
    static __device__ int least(int a, int b)
    {
        return a < b ? a : b;
    }
    __device__ int group() const
    {
        return wave_ / (F::waves / 2);
    }

    __device__ __forceinline__ void prepare(int begin)
    {
#pragma unroll
        for (int d = 0; d < F::dim_tiles; d++)
            o_.at[d] = {};
        max_ = -INFINITY;
        even_sum_ = odd_sum_ = 0.0f;
        copy_.fetch_k(begin);
        copy_.put_k(lds_ + F::k_at(begin));
        copy_.fetch_k(begin + 1);
        copy_.fetch_v(begin);
        mfma::barrier();
        if (group() == 1)
            mfma::barrier();
    }

    // SCORE: this wave's queries see keys of step t. ADD: they saw keys of step t - 1, whose P V is due.
    // EDGE: some see not all keys.
    template <bool SCORE, bool ADD, bool EDGE> __device__ __forceinline__ void step(int t)
    {
        typename F::operands operands;
        typename F::probabilities probabilities;
        if constexpr (SCORE)
            F::read_k(operands, lds_ + F::k_at(t));
        mfma::phase();
        copy(t);
        if constexpr (ADD)
            cut(probabilities);
        mfma::barrier();

        mfma::priority<products_first>();
        begin_products<SCORE, ADD>(operands);
        mfma::priority<false>();
        mfma::barrier();

        if constexpr (ADD)
            F::read_v(operands, lds_ + F::v_at(t - 1));
        mfma::phase();
        if constexpr (SCORE && EDGE)
            mask(p_.keys_of(mine_ + F::query()) - t * F::keys - F::first_key());
        if constexpr (SCORE)
            begin_softmax();
        mfma::barrier();

        mfma::priority<products_first>();
        finish_products<SCORE, ADD>(operands, probabilities);
        mfma::priority<false>();
        mfma::barrier();
    }

    __device__ __forceinline__ void copy(int t)
    {
        copy_.put_k(lds_ + F::k_at(t + 1));
        copy_.put_v(lds_ + F::v_at(t));
        copy_.fetch_k(t + 2);
        copy_.fetch_v(t + 1);
    }

    __device__ __forceinline__ void cut(typename F::probabilities &p) const
    {
        F::cut(p, s_);
#pragma unroll
        for (chunk &c : p.at)
            mfma::pin(c);
    }

    template <bool SCORE, bool ADD>
    __device__ __forceinline__ void begin_products(const typename F::operands &k)
    {
        const auto between = [&](int i) {
            if constexpr (ADD)
                rescale(i);
        };
        if constexpr (SCORE) {
#pragma unroll
            for (int j = 0; j < F::key_tiles; j++)
                s_.at[j] = {};
            F::score(s_, k, q_, between);
        } else {
#pragma unroll
            for (int i = 0; i < F::products; i++)
                between(i);
        }
    }

    template <bool SCORE, bool ADD>
    __device__ __forceinline__ void finish_products(const typename F::operands &v,
                                                    const typename F::probabilities &p)
    {
        const auto between = [&](int i) {
            if constexpr (SCORE)
                exponentiate(i);
        };
        if constexpr (ADD) {
            F::accumulate(o_, v, p, between);
        } else {
#pragma unroll
            for (int i = 0; i < F::products; i++)
                between(i);
        }
        if constexpr (SCORE)
            add(F::products - 1);
    }

    // Behind the i-th MFMA of Q K^T: a sixteenth of the output.
    __device__ __forceinline__ void rescale(int i)
    {
        constexpr int count = outputs / F::products;
#pragma unroll
        for (int n = i * count; n < (i + 1) * count; n++) {
            float x = o_.at[n / F::values][n % F::values] * keep_;
            mfma::pin(x);
            o_.at[n / F::values][n % F::values] = x;
        }
    }

    __device__ __forceinline__ void mask(int limit)
    {
#pragma unroll
        for (int n = 0; n < scores; n++)
            set_score(n, F::key(n / F::values, n % F::values) < limit ? score(n) : -INFINITY);
    }

    // Between the products: the new maximum, and what the exponentials need of it.
    __device__ __forceinline__ void begin_softmax()
    {
        float max = max_;
#pragma unroll
        for (int n = 0; n < scores; n++)
            max = fmaxf(max, score(n));
        max = fmaxf(max, F::across(max));
        keep_ = exp2_fast((max_ - max) * p_.scale);
        max_ = max;
        shift_ = max * p_.scale - F::lift;
        mfma::pin(shift_);
        mfma::pin(keep_);
        scale(0);
    }

    // Behind the i-th MFMA of P V: a sixteenth of the exponentials, whose arguments were scaled behind the
    // one before, and the sum of those that were ready there.
    __device__ __forceinline__ void exponentiate(int i)
    {
#pragma unroll
        for (int n = i * width; n < (i + 1) * width; n++)
            set_score(n, exp2_fast(score(n)));
        if constexpr (width == 2)
            mfma::phase();
        if (i + 1 < F::products)
            scale(i + 1);
        if (i > 0)
            add(i - 1);
#pragma unroll
        for (int n = i * width; n < (i + 1) * width; n++) {
            float x = score(n);
            mfma::pin(x);
            set_score(n, x);
        }
    }

    // The i-th sixteenth of the scores: a single value, or a pair in packed arithmetic. This waits for the
    // end of an MFMA, but with two exponentials a product the vector unit is late anyway.
    __device__ __forceinline__ void scale(int i)
    {
        if constexpr (width == 1) {
            float x = fmaf(score(i), p_.scale, -shift_);
            mfma::pin(x);
            set_score(i, x);
        } else {
            const mfma::pair factor = {p_.scale, p_.scale}, shift = {-shift_, -shift_};
            mfma::pair x = mfma::pair_of(s_.at[i / 8], i % 8) * factor + shift;
            mfma::pin(x);
            mfma::set_pair(s_.at[i / 8], i % 8, x);
        }
    }

    // Two partial sums, so that neither waits for the other.
    __device__ __forceinline__ void add(int i)
    {
        if constexpr (width == 1) {
            float &sum = i % 2 ? odd_sum_ : even_sum_;
            sum = i < 2 ? fmaf(sum, keep_, score(i)) : sum + score(i);
            mfma::pin(sum);
        } else {
            mfma::pair sum = {even_sum_, odd_sum_};
            sum = (i == 0 ? sum * keep_ : sum) + mfma::pair_of(s_.at[i / 8], i % 8);
            mfma::pin(sum);
            even_sum_ = sum[0];
            odd_sum_ = sum[1];
        }
    }

    __device__ __forceinline__ float score(int n) const
    {
        return s_.at[n / F::values][n % F::values];
    }
    __device__ __forceinline__ void set_score(int n, float x)
    {
        s_.at[n / F::values][n % F::values] = x;
    }

    const problem &p_;
    const work_tile at_;
    chunk *lds_;
    const int wave_, mine_; // mine_: the wave's first query
    typename F::copier copy_;
    typename F::queries_held q_;
    typename F::scores s_; // then their exponents of 2, then P, until it is cut
    typename F::output o_;
    float max_, keep_, shift_;
    float even_sum_, odd_sum_;
};

// LDS: the rings, and a chunk for the work tile that the block's first thread took.
template <class F> constexpr size_t ping_pong_bytes = (F::ring_chunks + 1) * sizeof(chunk);

// The same problem, of which the compiler knows nothing: it would keep the reciprocals of all the numbers
// that work tiles are computed with, in more scalar registers than there are.
static __device__ __forceinline__ problem reread(problem p)
{
    for (int *number : {&p.seq, &p.q_heads, &p.kv_heads, &p.heads, &p.tiles, &p.part.spans})
        mfma::pin_uniform(*number);
    return p;
}

// One block a CU: two waves a SIMD, at most 256 registers each.
template <class F, bool SPLIT>
__global__ void __launch_bounds__(F::threads, 2) attend_ping_pong(problem given, queues all)
{
    HIP_DYNAMIC_SHARED(chunk, lds)
    int *taken = reinterpret_cast<int *>(lds + F::ring_chunks);
    queue_position from(all, static_cast<int>(blockIdx.x));
    for (;;) {
        if (threadIdx.x == 0) {
            from.take(all);
            taken[0] = from.queue;
            taken[1] = from.nth;
        }
        mfma::barrier();
        const int queue = mfma::uniform(taken[0]), nth = mfma::uniform(taken[1]);
        if (nth < 0)
            return;
        const problem p = reread(given);
        ping_pong<F, SPLIT> work(p, all.work_tile_of<SPLIT>(p, queue, nth), lds);
        work.attend();
        work.store();
    }
}
} // namespace v5
