// v5's ping-pong form for CDNA: its matrix product, its accesses to LDS, its rings and its queues. On the CPU
// a block's waves run one after the other, in either order, so that a slot of a ring that is overwritten too
// early is seen by one that still has to read it.
#include "tests/tap.h"

#if defined(KS_PLATFORM_NVIDIA)
namespace
{
void test_all(tap &t)
{
    t.skip("the ping-pong form", "it is for CDNA");
}
} // namespace
#else
#include "attention/v5_cdna_launch.h"
#include "tests/device_array.h"
#include "tests/launched.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace
{
using narrow = fragment32<format::f16, 64>;
using wide = fragment32<format::bf16, 128>;

// ---- the product ----
constexpr int side = 32, depth = 8;

// C += A B for A = `a` (32 x 8) and B = `b` (8 x 32), of small integers, by the documented lane layout.
template <format FORMAT> __global__ void multiply(const float *a, const float *b, float *c)
{
    const int row = mfma::lane() % side, first = mfma::lane() / side * 4;
    chunk left = {}, right = {};
    for (int w = 0; w < 2; w++) {
        const int k = first + 2 * w;
        left[2 + w] = mfma::pack<FORMAT>(a[row * depth + k], a[row * depth + k + 1]);
        right[2 + w] = mfma::pack<FORMAT>(b[k * side + row], b[(k + 1) * side + row]);
    }
    mfma::sum32 sum = {};
    for (int r = 0; r < 16; r++)
        sum[r] = c[(r / 4 * 8 + mfma::lane() / side * 4 + r % 4) * side + row];
    mfma::product32<FORMAT, 0>(sum, left, right); // zeros
    mfma::product32<FORMAT, 1>(sum, left, right);
    for (int r = 0; r < 16; r++)
        c[(r / 4 * 8 + mfma::lane() / side * 4 + r % 4) * side + row] = sum[r];
}

template <format FORMAT> void test_product(tap &t)
{
    std::vector<float> a, b, c(side * side, 1.0f), want(c);
    for (int i = 0; i < side * depth; i++) {
        a.push_back(static_cast<float>(i * 7 % 23 - 11));
        b.push_back(static_cast<float>(i * 5 % 19 - 9));
    }
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++)
            for (int k = 0; k < depth; k++)
                want[i * side + j] += a[i * depth + k] * b[k * side + j];
    const device_array<float> da(a), db(b), dc(c);
    hipLaunchKernelGGL(multiply<FORMAT>, dim3(1), dim3(mfma::wave), 0, nullptr, da.get(), db.get(), dc.get());
    hip_check(hipGetLastError(), "cannot launch");
    t.check(dc.host() == want,
            std::string("C += A B, 32 x 32 x 8, ") + (FORMAT == format::f16 ? "f16" : "bf16"));
}

// ---- whole attention ----
// SPANS > 0 forces a split.
template <int SPANS> hipError_t launch(const attn_args &args, hipStream_t stream)
{
    return v5::choose(args, [&](auto type, auto head_dim) {
        const v5::split by =
            SPANS > 0 ? v5::split_by(args.shape, SPANS, v5::cdna_span) : v5::cdna_split(args.shape);
        return v5::launch_cdna<type, head_dim>(args, by, stream);
    });
}

template <int SPANS> attn_variant variant_of()
{
    attn_variant v{};
    v.name = "ping-pong";
    v.launch = launch<SPANS>;
    v.scratch_bytes = [](const attn_shape &s) {
        return SPANS > 0 ? v5::queue_bytes + v5::split_bytes(s, v5::split_by(s, SPANS, v5::cdna_span))
                         : v5::cdna_scratch(s);
    };
    return v;
}

// Empty if the output is right.
std::string fault_of(const attn_variant &variant, const attn_shape &s)
{
    tensors memory(s, variant);
    memory.fill(static_cast<uint64_t>(s.seq));
    return check_output(memory.args(), launched(variant, memory), 7).wrong;
}

const attn_shape shapes[] = {
    {1, 255, 2, 1, 128, true, ATTN_BF16}, {1, 256, 2, 1, 128, false, ATTN_F16},
    {1, 257, 1, 1, 128, true, ATTN_F16},  {1, 257, 2, 2, 64, true, ATTN_BF16},
    {1, 520, 2, 1, 128, true, ATTN_BF16}, {1, 513, 1, 1, 64, false, ATTN_F16},
    {2, 300, 4, 4, 64, true, ATTN_BF16},
};

void test_attention(tap &t, const std::string &order)
{
    for (const attn_shape &s : shapes) {
        const std::string whole = fault_of(variant_of<0>(), s);
        t.check(whole.empty(), describe(s) + order, whole);
        const std::string split = fault_of(variant_of<1>(), s);
        t.check(split.empty(), describe(s) + ", keys split" + order, split);
    }
}

#if !defined(KS_PLATFORM_CPU)
void test_host(tap &t)
{
    test_attention(t, "");
    t.skip("LDS, rings and queues", "tested on the CPU");
}
#else
// ---- rings ----
// Planted mistakes: every tile of K, or of V, goes to the same slot.
struct one_slot_of_k : wide {
    static constexpr int k_at(int)
    {
        return 0;
    }
};
struct one_slot_of_v : wide {
    static constexpr int v_at(int)
    {
        return wide::v_at(0);
    }
};

// Only the kernel that runs: each of the others would take a second to compile.
template <class F> hipError_t launch_whole(const attn_args &args, hipStream_t stream)
{
    const v5::split whole = v5::cdna_split(args.shape);
    return v5::launch_ping_pong<F, false>(args, v5::describe(args, whole, nullptr, F::block_queries), whole,
                                          stream);
}

template <class F> attn_variant mistaken()
{
    attn_variant v{};
    v.name = "ping-pong with a mistake";
    v.launch = launch_whole<F>;
    v.scratch_bytes = v5::cdna_scratch;
    return v;
}

void test_rings(tap &t)
{
    for (const char *order : {"forward", "reverse"}) {
        setenv("KERNSWEEP_CPU_ORDER", order, 1);
        const std::string name = std::string(", waves ") + order;
        test_attention(t, name);
        const attn_shape s = {1, 256, 1, 1, wide::head_dim, false, ATTN_BF16};
        t.check(!fault_of(mistaken<one_slot_of_k>(), s).empty(),
                "a tile of K that is overwritten before all have read it is seen" + name);
        t.check(!fault_of(mistaken<one_slot_of_v>(), s).empty(),
                "a tile of V that is overwritten before all have read it is seen" + name);
    }
}

// ---- LDS: 32 banks of four bytes ----
using lanes = std::vector<int>;

// Lanes whose accesses of 16 bytes AMD's LDS serves together, in a read.
const std::vector<lanes> &read_phases()
{
    static const std::vector<lanes> phases = [] {
        std::vector<lanes> all;
        const int starts[][2] = {{0, 20}, {4, 16}, {8, 28}, {12, 24}, {32, 52}, {36, 48}, {40, 60}, {44, 56}};
        for (const auto &two : starts) {
            lanes phase;
            for (const int first : two)
                for (int i = 0; i < 4; i++)
                    phase.push_back(first + i);
            all.push_back(phase);
        }
        return all;
    }();
    return phases;
}

std::vector<lanes> neighbours(int count)
{
    std::vector<lanes> all;
    for (int first = 0; first < mfma::wave; first += count) {
        all.emplace_back();
        for (int i = 0; i < count; i++)
            all.back().push_back(first + i);
    }
    return all;
}

// Pairs of phases of half the size, as reads of 16 bytes are grouped.
std::vector<lanes> pairs_of_phases()
{
    std::vector<lanes> all;
    for (size_t i = 0; i < read_phases().size(); i += 2) {
        all.push_back(read_phases()[i]);
        all.back().insert(all.back().end(), read_phases()[i + 1].begin(), read_phases()[i + 1].end());
    }
    return all;
}

// The clocks that an access takes: of the phases, the most distinct words on one bank.
int clocks(const std::vector<lanes> &phases, int bytes, const std::function<int(int)> &address_of)
{
    int total = 0;
    for (const lanes &phase : phases) {
        std::set<int> words[32];
        size_t most = 0;
        for (const int lane : phase) {
            for (int word = address_of(lane) / 4, end = word + bytes / 4; word < end; word++) {
                words[word % 32].insert(word);
                most = std::max(most, words[word % 32].size());
            }
        }
        total += static_cast<int>(most);
    }
    return total;
}

template <class F> void test_banks(tap &t)
{
    const std::string name = "D=" + std::to_string(F::head_dim) + ": ";
    bool k_read = true, v_read = true, k_write = true, v_write = true;
    for (int n = 0; n < F::products / 2; n++) {
        k_read =
            k_read && clocks(read_phases(), 16, [&](int lane) { return F::k_read_at(lane, n) * 16; }) == 8;
        v_read =
            v_read && clocks(read_phases(), 16, [&](int lane) { return F::v_read_at(lane, n) * 16; }) == 8;
    }
    for (int wave = 0; wave < F::waves; wave++) {
        const int first = wave * mfma::wave;
        const auto k_at = [&](int lane) { return F::k_write_at(first + lane) * 16; };
        k_write = k_write && clocks(neighbours(8), 16, k_at) == 8;
        for (const int odd : {0, 1}) {
            const auto v_at = [&](int lane) { return F::v_write_at(first + lane, odd) * 8; };
            v_write =
                v_write && clocks(neighbours(16), 8, v_at) == 4 && clocks(pairs_of_phases(), 8, v_at) == 4;
        }
    }
    t.check(k_read && v_read,
            name + "reads of operands from LDS take 8 clocks, the least for 16 bytes a lane");
    t.check(k_write, name + "stores of K take 8 clocks");
    t.check(v_write,
            name + "stores of V take 4 clocks, the least for 8 bytes a lane, in either grouping of lanes");
    t.check(clocks(neighbours(16), 8, [](int lane) { return lane * 128; }) == 64,
            name + "conflicts would be counted");
}

// Every thread's share is in the slot once, and the operands are what the products need.
template <class F> void test_places(tap &t)
{
    std::set<int> k, v;
    for (int thread = 0; thread < F::threads; thread++) {
        k.insert(F::k_write_at(thread));
        for (const int odd : {0, 1})
            v.insert(F::v_write_at(thread, odd));
    }
    t.check(k.size() == static_cast<size_t>(F::threads) && v.size() == 2 * static_cast<size_t>(F::threads) &&
                *k.rbegin() < F::k_slot && *v.rbegin() < 2 * F::v_slot,
            "D=" + std::to_string(F::head_dim) + ": the threads' shares of K and V overlap nowhere and fit");
}

// ---- queues ----
v5::problem problem_of(const attn_shape &s, const v5::split &by)
{
    attn_args args{};
    args.shape = s;
    args.scale = 1.0f;
    return v5::describe(args, by, nullptr, v5::cdna_span);
}

struct deal {
    double useful = 0, longest = 0; // in steps of 32 keys; useful: without the scores behind the diagonal
    std::set<std::tuple<int, int, int>> had; // head, tile, part
    size_t taken = 0;
    bool one_chiplet =
        true; // every K/V head is read by the blocks of one queue only, as long as none is empty
    bool longest_first = true; // within a queue
};

// `blocks` blocks take work tiles whenever they are done with one: a step for 32 keys, two to begin.
template <bool SPLIT> deal simulate(const attn_shape &s, const v5::split &by, int blocks)
{
    unsigned counters[v5::chiplets * v5::counter_stride] = {};
    const v5::problem p = problem_of(s, by);
    const v5::queues all = v5::describe_queues(s.batch * s.kv_heads, by.work_tiles, counters);
    std::vector<v5::queue_position> at;
    std::priority_queue<std::pair<double, int>, std::vector<std::pair<double, int>>, std::greater<>> free;
    for (int b = 0; b < blocks; b++) {
        at.emplace_back(all, b);
        free.emplace(0.0, b);
    }
    deal d;
    std::vector<int> queue_of(static_cast<size_t>(s.batch * s.kv_heads), -1), last(v5::chiplets, 1 << 30);
    while (!free.empty()) {
        const auto [now, block] = free.top();
        free.pop();
        v5::queue_position &position = at[static_cast<size_t>(block)];
        position.take(all);
        if (position.nth < 0)
            continue;
        const v5::work_tile tile = all.work_tile_of<SPLIT>(p, position.queue, position.nth);
        const v5::key_range keys = tile.keys<SPLIT, v5::cdna_span>(p);
        const double time = (keys.end - keys.begin) / 32.0 + 2;
        d.taken++;
        d.had.insert({tile.head, tile.tile, tile.part});
        for (int row = tile.tile * v5::cdna_span; row < std::min((tile.tile + 1) * v5::cdna_span, s.seq);
             row++)
            d.useful += std::max(0, std::min(keys.end, p.keys_of(row)) - keys.begin) / 32.0 / v5::cdna_span;
        d.longest = std::max(d.longest, now + time);
        int &queue = queue_of[static_cast<size_t>(tile.head / (s.q_heads / s.kv_heads))];
        d.one_chiplet = d.one_chiplet && (queue < 0 || queue == position.queue);
        queue = position.queue;
        d.longest_first =
            d.longest_first && keys.end - keys.begin <= last[static_cast<size_t>(position.queue)];
        last[static_cast<size_t>(position.queue)] = keys.end - keys.begin;
        free.emplace(now + time, block);
    }
    return d;
}

void test_complete(tap &t)
{
    for (const bool causal : {true, false}) {
        for (const auto &heads : {std::pair(32, 8), std::pair(12, 4), std::pair(6, 3), std::pair(2, 2)}) {
            const attn_shape s = {1, 1500, heads.first, heads.second, 128, causal, ATTN_BF16};
            const v5::split none = v5::split_by(s, 6, v5::cdna_span), by = v5::split_by(s, 2, v5::cdna_span);
            const deal whole = simulate<false>(s, none, 5), parts = simulate<true>(s, by, 40);
            t.check(whole.taken == static_cast<size_t>(none.work_tiles) && whole.had.size() == whole.taken &&
                        parts.taken == static_cast<size_t>(by.work_tiles) && parts.had.size() == parts.taken,
                    describe(s) + ": every work tile is taken once, whole and split");
            t.check(whole.one_chiplet && parts.one_chiplet && whole.longest_first,
                    describe(s) + ": a K/V head is in one queue, longest work tiles first");
        }
    }
}

void test_map(tap &t)
{
    t.check(v5::queue_count(8) == 8 && v5::queue_count(32) == 8 && v5::queue_count(12) == 4 &&
                v5::queue_count(6) == 2 && v5::queue_count(1) == 1,
            "as many queues as divide the K/V heads and the eight chiplets");
    unsigned none[v5::chiplets * v5::counter_stride] = {};
    const attn_shape s = {2, 512, 32, 8, 128, true, ATTN_BF16};
    const v5::problem p = problem_of(s, v5::split_by(s, 2, v5::cdna_span));
    const v5::queues all = v5::describe_queues(16, p.part.work_tiles, none);
    bool own = true;
    for (int block = 0; block < 304; block++)
        own = own && v5::queue_position(all, block).queue == block % 8;
    for (int queue = 0; queue < 8; queue++)
        for (int nth = 0; nth < 8; nth++)
            own = own && all.head_of(p, queue, nth) / 4 % 8 == queue;
    t.check(own,
            "block b begins with queue b % 8, which has the query heads of K/V heads b % 8 of every batch");
}

// The share of a perfect deal: useful work over the time of 304 CUs, also against AITER's pairs of a head and
// a tail tile.
void test_balance(tap &t)
{
    const std::tuple<int, double, double> bars[] = {
        {4096, 0.79, 0.71}, {8192, 0.87, 0.77}, {16384, 0.94, 0.80}};
    for (const auto &[seq, least, pairs] : bars) {
        for (const int kv_heads : {32, 8}) {
            const attn_shape s = {1, seq, 32, kv_heads, 128, true, ATTN_BF16};
            const deal d = simulate<false>(s, v5::split_by(s, seq, v5::cdna_span), 304);
            const double share = d.useful / 304 / d.longest;
            char name[120];
            std::snprintf(name, sizeof name, "32/%d heads of %dk: %.2f of a perfect deal, at least %.2f",
                          kv_heads, seq / 1024, share, least);
            t.check(share >= least && share > pairs, name);
        }
    }
}

void test_host(tap &t)
{
    test_banks<narrow>(t);
    test_banks<wide>(t);
    test_places<narrow>(t);
    test_places<wide>(t);
    test_rings(t);
    test_map(t);
    test_complete(t);
    test_balance(t);
}
#endif

void test_all(tap &t)
{
    test_product<format::f16>(t);
    test_product<format::bf16>(t);
    test_host(t);
}
} // namespace
#endif

int main(int argc, char **argv)
{
    return run_tests("v5 ping-pong", test_all, argc, argv);
}
