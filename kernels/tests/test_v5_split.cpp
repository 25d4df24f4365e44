// v5's split-KV: when keys are split, the order of work tiles, and that forced splits of any size give
// correct and reproducible results and read no scratch memory that they have not written.
#include "attention/v5_launch.h"
#include "tests/launched.h"
#include "tests/tap.h"

#include <limits>
#include <set>
#include <string>
#include <tuple>

#if defined(KS_PLATFORM_NVIDIA)
#include "attention/v5_hopper_launch.h"
#endif

namespace
{
constexpr v5::tile_slots h100 = {132}, mi300x = {2 * 304}, hopper = {132, v5::span, true, v5::pipeline_times};

attn_shape shape_of(int batch, int seq, int q_heads, int kv_heads, bool causal)
{
    return {batch, seq, q_heads, kv_heads, 128, causal, ATTN_BF16};
}

void test_choice(tap &t)
{
    const auto parts = [](int batch, int seq, int heads, bool causal, const v5::tile_slots &slots) {
        return v5::choose_split(shape_of(batch, seq, heads, heads, causal), slots).parts;
    };
    t.check(parts(1, 1, 1, true, h100) == 1, "one key is not split");
    t.check(parts(1, 128, 1, true, mi300x) == 1 && parts(1, 256, 1, true, mi300x) == 1,
            "one or two tiles of keys are not split");
    t.check(parts(1, 4096, 32, true, h100) == 1 && parts(4, 2048, 16, false, h100) == 1,
            "heads that fill the device are not split");
    t.check(parts(1, 16384, 1, false, h100) == 1, "128 equal work tiles on 132 SMs are not split");
    t.check(parts(1, 8192, 1, false, h100) == 2, "64 equal work tiles on 132 SMs are halved");
    t.check(parts(1, 8192, 1, true, h100) > 2 &&
                parts(1, 8192, 1, true, mi300x) > parts(1, 8192, 1, true, h100),
            "a causal head is split, more so on a larger device");
    t.check(parts(1, 8192, 4, true, h100) == 2 && parts(1, 8192, 4, true, hopper) == 1 &&
                parts(1, 32768, 1, true, hopper) == 1,
            "two rounds of causal work tiles are not split if they are balanced");
    const v5::tile_slots turning = {132, v5::span, true};
    t.check(parts(1, 8192, 4, false, h100) == parts(1, 8192, 4, false, turning) &&
                parts(1, 8192, 1, true, h100) == parts(1, 8192, 1, true, turning),
            "back and forth makes no difference to equal work tiles, nor to one round");
    t.check(parts(1, 2560, 8, false, hopper) == 1 && parts(1, 12288, 2, true, hopper) == 1,
            "a gain that writing and reading the partial results would use up is none");
    t.check(parts(1, 6144, 4, false, hopper) == 2 && parts(1, 4096, 1, true, hopper) == 7,
            "few heads are split in the pipeline too");
    t.check(parts(2, 4096, 1, true, h100) == parts(1, 4096, 2, true, h100),
            "a batch of 2 is split like 2 heads");
    const attn_shape few = shape_of(1, 4096, 1, 1, true);
    const v5::split by = v5::choose_split(few, h100);
    t.check(v5::split_bytes(few, by) == static_cast<size_t>(by.parts) * 4096 * (128 * 4 + 8) &&
                v5::split_bytes(few, v5::split_by(few, 32)) == 0,
            "scratch memory is that of the parts, and none without a split");
    bool enough = true;
    for (const int seq : {1, 300, 4096, 20000}) {
        attn_shape s = shape_of(1, seq, 2, 1, false);
        const size_t asked = v5::split_bytes_up_to(s, h100);
        for (; s.seq > 0; s.seq -= 77)
            enough = enough && v5::split_bytes(s, v5::choose_split(s, h100)) <= asked;
    }
    t.check(enough, "the scratch memory is enough for all shorter sequences");
}

// The order is computed by device code, which this test can call only if the device is the CPU.
#if defined(KS_PLATFORM_CPU)
v5::problem problem_of(const attn_shape &s, const v5::split &by)
{
    attn_args args{};
    args.shape = s;
    args.scale = 1.0f;
    return v5::describe(args, by, nullptr);
}

// Every key that a tile of queries sees is in exactly one work tile.
template <bool SPLIT> bool each_once(const v5::problem &p)
{
    std::set<std::tuple<int, int, int>> seen;
    int spans = 0;
    for (int i = 0; i < v5::work_tile::count<SPLIT>(p); i++) {
        const v5::work_tile at = v5::work_tile::of<SPLIT>(p, i);
        const v5::key_range keys = at.template keys<SPLIT>(p);
        for (int key = keys.begin; key < keys.end; key += v5::span, spans++)
            seen.insert({at.head, at.tile, key});
        if (keys.begin >= keys.end || (SPLIT && at.part >= p.parts_of(at.tile)))
            return false;
    }
    int all = 0;
    for (int tile = 0; tile < p.tiles; tile++)
        all += p.heads * ((p.keys_of_tile(tile) + v5::span - 1) / v5::span);
    return spans == all && static_cast<int>(seen.size()) == all;
}

// The query heads of a K/V head are adjacent for every tile (and part).
template <bool SPLIT> bool groups_are_neighbours(const v5::problem &p)
{
    const int group = p.q_heads / p.kv_heads;
    for (int i = 0; i < v5::work_tile::count<SPLIT>(p); i += group) {
        const v5::work_tile first = v5::work_tile::of<SPLIT>(p, i);
        for (int j = 1; j < group; j++) {
            const v5::work_tile at = v5::work_tile::of<SPLIT>(p, i + j);
            if (at.head / group != first.head / group || at.tile != first.tile || at.part != first.part)
                return false;
        }
    }
    return true;
}

// Within a section of heads, without a split.
bool longest_first(const v5::problem &p)
{
    for (int i = 1; i < v5::work_tile::count<false>(p); i++) {
        const v5::work_tile before = v5::work_tile::of<false>(p, i - 1), at = v5::work_tile::of<false>(p, i);
        if (before.head / p.section == at.head / p.section && before.tile < at.tile)
            return false;
    }
    return true;
}

// The order that Hopper's pipeline computes, with divisors that the host prepared.
bool same_with_divisors(const v5::problem &p)
{
    const v5::prepared_sections by({p.heads, p.section, p.tiles});
    for (int i = 0; i < v5::work_tile::count<false>(p); i++) {
        const v5::work_tile at = v5::work_tile::of<false>(p, i), other = v5::work_tile::of<false>(p, by, i);
        if (at.head != other.head || at.tile != other.tile || at.part != other.part)
            return false;
    }
    return true;
}

void test_order(tap &t)
{
    for (const bool causal : {true, false}) {
        for (const int seq : {1, 128, 129, 1000, 2048}) {
            const attn_shape s = shape_of(2, seq, 6, 2, causal);
            const std::string name = "S=" + std::to_string(seq) + (causal ? " causal" : "");
            v5::problem p = problem_of(s, v5::split_by(s, 16));
            for (const int section : {p.section, 3}) {
                p.section = section;
                t.check(each_once<false>(p) && groups_are_neighbours<false>(p) && longest_first(p),
                        name + ", sections of " + std::to_string(section) +
                            ": every key once, longest tiles first, query heads of a K/V head adjacent");
            }
            bool same = true;
            for (p.section = 1; p.section <= p.heads; p.section++)
                same = same && same_with_divisors(p);
            t.check(same, name + ": sections of every size, the same order with prepared divisors");
            for (const int spans : {1, 3}) {
                p = problem_of(s, v5::split_by(s, spans));
                t.check(each_once<true>(p) && groups_are_neighbours<true>(p),
                        name + ", parts of " + std::to_string(spans) +
                            ": every key once, query heads of a K/V head adjacent");
            }
        }
    }
}

#else
void test_order(tap &t)
{
    t.skip("the order of work tiles", "tested on the CPU");
}
#endif

template <int SPANS, bool PIPELINE> hipError_t launch(const attn_args &args, hipStream_t stream)
{
    return v5::choose(args, [&](auto type, auto head_dim) {
        const v5::split by = v5::split_by(args.shape, SPANS);
#if defined(KS_PLATFORM_NVIDIA)
        if (PIPELINE)
            return v5::launch_pipelined<type, head_dim>(args, by, stream);
#endif
        return v5::launch_tiles<type, head_dim>(args, by, stream);
    });
}

// v5 with parts of SPANS spans of keys on any device.
template <int SPANS, bool PIPELINE> attn_variant forced()
{
    attn_variant v{};
    v.name = PIPELINE ? "pipeline" : "tile loop";
    v.launch = launch<SPANS, PIPELINE>;
    v.scratch_bytes = [](const attn_shape &s) { // 256: the counter of Hopper's pipeline
        return 256 + v5::split_bytes(s, v5::split_by(s, SPANS));
    };
    return v;
}

void poison_scratch(const attn_variant &variant, const attn_args &args)
{
    const std::vector<float> nan(variant.scratch_bytes(args.shape) / sizeof(float),
                                 std::numeric_limits<float>::quiet_NaN());
    hip_check(hipMemcpy(args.scratch, nan.data(), nan.size() * sizeof(float), hipMemcpyHostToDevice),
              "poison");
}

void test_split(tap &t, const attn_variant &variant, int spans, const attn_shape &s)
{
    const std::string name = std::string(variant.name) + " " + describe(s) + ", " +
                             std::to_string(v5::split_by(s, spans).parts) + " parts of " +
                             std::to_string(spans);
    tensors memory(s, variant);
    memory.fill(static_cast<uint64_t>(s.seq));
    std::vector<unsigned char> first;
    for (int run = 0; run < 2; run++) {
        poison_scratch(variant, memory.args());
        const tensors::host_copy copy = launched(variant, memory);
        if (run == 0) {
            const check_result result = check_output(memory.args(), copy, 7);
            t.check(result.wrong.empty(), name, result.wrong);
            first = copy.o;
        } else
            t.check(copy.o == first, name + ": a second launch gives the same bits");
    }
}

template <bool PIPELINE> void test_splits(tap &t)
{
    for (const attn_dtype dtype : {ATTN_F16, ATTN_BF16}) {
        for (const int dim : {64, 128}) {
            for (const bool causal : {true, false}) {
                test_split(t, forced<1, PIPELINE>(), 1, {1, 129, 4, 2, dim, causal, dtype});
                test_split(t, forced<1, PIPELINE>(), 1, {2, 300, 1, 1, dim, causal, dtype});
                test_split(t, forced<2, PIPELINE>(), 2, {1, 385, 2, 1, dim, causal, dtype});
            }
        }
    }
}

void test_all(tap &t)
{
    test_choice(t);
    test_order(t);
    test_splits<false>(t);
#if defined(KS_PLATFORM_NVIDIA)
    test_splits<true>(t);
#endif
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("v5 split-KV", test_all, argc, argv);
}
