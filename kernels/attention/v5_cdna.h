#pragma once

#include "attention/v5.h"
#include "device/fragment_mfma32.h"

namespace v5
{
template <class F, bool SPLIT> class ping_pong
{
  public:
    __device__ ping_pong(const problem &p, const work_tile &at, chunk *lds)
        : p_(p), at_(at), lds_(lds), wave_(mfma::uniform(static_cast<int>(threadIdx.x) / F::wave)),
          mine_(at.tile * F::block_queries + wave_ * F::queries),
          copy_(lds, p.keys(at.head, F::head_dim), p.values(at.head, F::head_dim))
    {
    }

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
    // Steps begin..block_end hold the block's keys. This wave's queries see all keys of steps before `full`, and
    // none of those from `end` on.
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
        copy_.put_k(begin);
        copy_.fetch_k(begin + 1);
        copy_.fetch_v(begin);
        mfma::barrier();
        if (group() == 1)
            mfma::barrier();
    }

    template <bool SCORE, bool ADD, bool EDGE> __device__ __forceinline__ void step(int t)
    {
        typename F::operands operands;
        typename F::probabilities probabilities;
        // memory
        if constexpr (SCORE)
            F::read_k(operands, lds_, t);
        mfma::phase();
        copy_.put_k(t + 1);
        copy_.put_v(t);
        copy_.fetch_k(t + 2);
        copy_.fetch_v(t + 1);
        if constexpr (ADD) {
            F::cut(probabilities, s_);
#pragma unroll
            for (chunk &c : probabilities.at)
                mfma::pin(c);
        }
        mfma::barrier();
        // matrix
        mfma::priority<true>();
        if constexpr (SCORE) {
#pragma unroll
            for (int j = 0; j < F::key_tiles; j++)
                s_.at[j] = {};
            F::score(s_, operands, q_, [&](int i) {
                if constexpr (ADD)
                    rescale(i);
            });
        } else if constexpr (ADD) {
#pragma unroll
            for (int i = 0; i < F::products; i++)
                rescale(i);
        }
        mfma::priority<false>();
        mfma::barrier();
        // memory
        if constexpr (ADD)
            F::read_v(operands, lds_, t - 1);
        mfma::phase();
        if constexpr (SCORE) {
            if constexpr (EDGE)
                mask(p_.keys_of(mine_ + F::query()) - t * F::keys - F::first_key());
            begin_softmax();
        }
        mfma::barrier();
        // matrix
        mfma::priority<true>();
        if constexpr (ADD) {
            F::accumulate(o_, operands, probabilities, [&](int i) {
                if constexpr (SCORE)
                    exponentiate(i);
            });
        } else if constexpr (SCORE) {
#pragma unroll
            for (int i = 0; i < F::products; i++)
                exponentiate(i);
        }
        mfma::priority<false>();
        if constexpr (SCORE)
            add(F::products - 1);
        mfma::barrier();
    }

    static constexpr int scores = F::key_tiles * F::values;   // of a lane
    static constexpr int width = scores / F::products; // exponentials per product of P V
    static constexpr int outputs = F::dim_tiles * F::values; // of a lane

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
        for (int j = 0; j < F::key_tiles; j++)
#pragma unroll
            for (int r = 0; r < F::values; r++)
                s_.at[j][r] = F::key(j, r) < limit ? s_.at[j][r] : -INFINITY;
    }

    __device__ __forceinline__ void begin_softmax()
    {
        float max = max_;
#pragma unroll
        for (int j = 0; j < F::key_tiles; j++)
#pragma unroll
            for (int r = 0; r < F::values; r++)
                max = fmaxf(max, s_.at[j][r]);
        max = fmaxf(max, F::across(max));
        drop_ = (max_ - max) * p_.scale;
        max_ = max;
        shift_ = max * p_.scale - F::lift;
        mfma::pin(drop_);
        mfma::pin(shift_);
        scale(0);
    }

    // Behind the i-th MFMA of P V: a sixteenth of the exponentials, of arguments that were scaled behind the one
    // before, and the sum of those that were ready there.
    __device__ __forceinline__ void exponentiate(int i)
    {
        if (i == 0)
            keep_ = exp2_fast(drop_);
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
        if (i == 0)
            mfma::pin(keep_);
    }
    __device__ __forceinline__ float score(int n) const
    {
        return s_.at[n / F::values][n % F::values];
    }
    __device__ __forceinline__ void set_score(int n, float x)
    {
        s_.at[n / F::values][n % F::values] = x;
    }
    // The i-th sixteenth of the scores. A single value, or a pair in packed arithmetic: this waits for the end of an
    // MFMA, but with two exponentials a product the vector unit is late anyway.
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

    const problem &p_;
    const work_tile at_;
    chunk *lds_;
    const int wave_, mine_;
    typename F::copier copy_;
    typename F::queries_held q_;
    typename F::scores s_;
    typename F::output o_;
    float max_, drop_, keep_, shift_;
    float even_sum_, odd_sum_;
};

template <class F, bool SPLIT> __global__ void __launch_bounds__(F::threads, 2) attend_ping_pong(problem p)
{
    HIP_DYNAMIC_SHARED(chunk, lds)
    ping_pong<F, SPLIT> work(p, work_tile::of<SPLIT>(p, static_cast<int>(blockIdx.x)), lds);
    work.attend();
    work.store();
}
} // namespace v5
