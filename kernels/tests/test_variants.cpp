// Every variant compiled in, over the shapes where attention kernels fail: one token, tiles that are just
// full, one short and one over; grouped heads; several batches; causal and full.
//   test_variants [--attn NAME] [--seq N] [--long]
// --seq tests only one context; --long adds contexts that take too long on a CPU.
#include "runner/options.h"
#include "tests/launched.h"
#include "tests/tap.h"

namespace
{
struct heads {
    int batch, q, kv;
};

void test_shape(tap &t, const attn_variant &variant, const attn_shape &shape, bool twice)
{
    const std::string name = std::string(variant.name) + " " + describe(shape),
                      again = name + ": a second launch gives the same bits";
    if (!t.wants(name) && !t.wants(again))
        return;
    try {
        tensors memory(shape, variant);
        memory.fill(static_cast<uint64_t>(shape.seq));
        const tensors::host_copy first = launched(variant, memory);
        const check_result result = check_output(memory.args(), first, 7);
        t.check(result.wrong.empty(), name, result.wrong);
        if (!twice || !variant.deterministic)
            return;
        t.check(launched(variant, memory).o == first.o, again);
    } catch (const failure &f) {
        t.check(false, name, f.message);
    }
}

struct selection {
    std::string attn;
    int seq = 0; // 0: all
    bool long_too = false;
};

void test_variant(tap &t, const attn_variant &variant, attn_dtype dtype, const selection &selected)
{
    static const heads groups[] = {{1, 1, 1}, {1, 4, 2}, {2, 3, 1}};
    for (const int seq : {1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 129, 200}) {
        for (const int head_dim : {64, 128}) {
            if (selected.seq != 0 && selected.seq != seq)
                continue;
            for (const heads &h : groups) {
                for (const bool causal : {true, false})
                    test_shape(t, variant, {h.batch, seq, h.q, h.kv, head_dim, causal, dtype}, seq == 129);
            }
        }
    }
    for (const int seq : {1024, 4096, 4097}) {
        for (const bool causal : {true, false}) {
            if (selected.long_too)
                test_shape(t, variant, {1, seq, 4, 2, 128, causal, dtype}, true);
        }
    }
    for (const int seq : {2049, 3001, 3072}) { // enough work for v5's third consumer
        for (const bool causal : {true, false}) {
            if (selected.long_too)
                test_shape(t, variant, {1, seq, 48, 12, 64, causal, dtype}, true);
        }
    }
    for (const int seq :
         {1000, 1500}) { // v5's work tiles go back and forth over the blocks, for two rounds and for three
        for (const int head_dim : {64, 128}) {
            if (selected.long_too)
                test_shape(t, variant, {1, seq, 32, 8, head_dim, true, dtype}, true);
        }
    }
    // Enough work for v5's clusters, which need an even number of tiles.
    for (const int seq : {1000, 1024, 1100}) {
        for (const bool causal : {true, false}) {
            if (selected.long_too)
                test_shape(t, variant, {2, seq, 48, 12, 128, causal, dtype}, true);
        }
    }
    // And for clusters of long sequences, with the causal mask handed out by a counter.
    for (const bool causal : {true, false}) {
        if (selected.long_too && attn_find("v5") == &variant)
            test_shape(t, variant, {1, 12500, 6, 2, 128, causal, dtype}, true);
    }
}

void test_all(tap &t, int argc, char **argv)
{
    selection selected;
    arguments args(argc, argv);
    while (args.next()) {
        if (args.is("--attn"))
            selected.attn = args.text();
        else if (args.is("--seq"))
            selected.seq = args.number(1, 1 << 20);
        else if (args.is("--long"))
            selected.long_too = true;
        else
            args.unknown();
    }
    if (!selected.attn.empty())
        selected.attn = choose_variant(selected.attn).name;
    for (const attn_variant &variant : attn_variants()) {
        for (const attn_dtype dtype : {ATTN_F32, ATTN_F16, ATTN_BF16}) {
            if ((variant.dtypes & 1u << dtype) && (selected.attn.empty() || selected.attn == variant.name))
                test_variant(t, variant, dtype, selected);
        }
    }
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("variants", test_all, argc, argv);
}
