// prefill: times the attention of L layers over a synthetic, seeded prompt of N tokens, or runs a model
// (model_run.h). Follows kernsweep's workload contract: `Prompt tokens: N`, one [PERF_TIMING] line,
// STATUS=OK. Exit 0: done; 1: failed (wrong result or device error); 2: bad input.
#include "base/hip_check.h"
#include "base/json_line.h"
#include "base/timer.h"
#include "runner/check.h"
#include "runner/cost.h"
#include "runner/make_model_command.h"
#include "runner/model_options.h"
#include "runner/model_run.h"
#include "runner/options.h"
#include "runner/tensors.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{
const char usage[] =
    "prefill --context N [options]: time the attention of a synthetic prompt of N tokens\n"
    "  --attn NAME        variant (its name or its attn_impl); default: the only one compiled in,\n"
    "                     or the one GRETA_PREFILL_{LDS_TILING,SEGMENTED,Q_LDS}=1 selects, or baseline\n"
    "  --heads N          query heads, default 32\n"
    "  --kv-heads N       key and value heads, default --heads\n"
    "  --head-dim 64|128  default 128\n"
    "  --layers N         default 1\n"
    "  --dtype T          f32 (default), f16, bf16\n"
    "  --causal, --no-causal\n"
    "  --seed N           of Q, K and V, default 1\n"
    "  --check            compare every layer with attention in fp64\n"
    "  --list             print the variants compiled in\n"
    "GRETA_MAX_SEQ_LEN=N limits the context.\n"
    "prefill make-model writes a model file: see prefill make-model --help.\n";

struct prefill_options {
    attn_shape shape{1, 0, 32, 0, 128, true, ATTN_F32};
    std::string attn;
    int layers = 1;
    uint64_t seed = 1;
    bool check = false;
};

struct prefill_result {
    double load_s = 0, prefill_s = 0;
    double min_s = 0, max_s = 0; // of a layer
    check_result check{};        // the worst layer's
};

void list_variants()
{
    for (const attn_variant &variant : attn_variants())
        std::printf("%s\t%s\t%s\n", variant.name, variant.attn_impl, variant.idea);
}

prefill_options parse_options(int argc, char **argv)
{
    prefill_options o;
    arguments args(argc, argv);
    while (args.next()) {
        if (args.is("--context"))
            o.shape.seq = args.number(1, 1 << 24);
        else if (args.is("--attn"))
            o.attn = args.text();
        else if (heads_option(args, o.shape))
            continue;
        else if (args.is("--layers"))
            o.layers = args.number(1, 1024);
        else if (args.is("--seed"))
            o.seed = args.seed();
        else if (args.is("--check"))
            o.check = true;
        else if (args.is("--list") || args.is("--help")) {
            if (args.is("--list"))
                list_variants();
            else
                std::printf("%s\n%s", usage, model_usage);
            std::exit(EXIT_OK);
        } else
            args.unknown();
    }
    if (o.shape.seq == 0)
        bad_input("--context is missing: see --help");
    if (o.shape.kv_heads == 0)
        o.shape.kv_heads = o.shape.q_heads;
    return o;
}

void check_limit(int context)
{
    const int limit = token_limit();
    if (limit != 0 && context > limit)
        bad_input("context " + std::to_string(context) + " is longer than GRETA_MAX_SEQ_LEN " +
                  std::to_string(limit));
}

void run_attention(const attn_variant &variant, const attn_args &args)
{
    hip_check(variant.launch(args, nullptr), std::string("cannot launch ") + variant.attn_impl);
}

// Runs one token untimed: the overhead of a process's first launch counts as loading.
void warm_up(const attn_variant &variant, const tensors &memory)
{
    attn_args args = memory.args();
    args.shape.seq = 1;
    run_attention(variant, args);
    hip_check(hipDeviceSynchronize(), std::string(variant.attn_impl) + " failed");
}

void keep_worst(check_result &worst, const check_result &layer)
{
    if (worst.wrong.empty() && (!layer.wrong.empty() || layer.rel_l2 >= worst.rel_l2))
        worst = layer;
}

prefill_result time_layers(const prefill_options &o, const attn_variant &variant)
{
    prefill_result result;
    const host_timer loading;
    tensors memory(o.shape, variant);
    memory.fill(o.seed);
    warm_up(variant, memory);
    result.load_s = loading.seconds();

    device_timer timer;
    for (int layer = 0; layer < o.layers; layer++) {
        const uint64_t seed = o.seed + static_cast<uint64_t>(layer);
        if (layer > 0)
            memory.fill(seed);
        memory.poison();
        timer.start();
        run_attention(variant, memory.args());
        timer.stop();
        const double seconds = timer.seconds(variant.attn_impl);
        result.prefill_s += seconds;
        result.min_s = layer ? std::min(result.min_s, seconds) : seconds;
        result.max_s = std::max(result.max_s, seconds);
        if (o.check)
            keep_worst(result.check, check_output(memory.args(), memory.copy(), seed));
    }
    return result;
}

std::string timing_line(const prefill_options &o, const attn_variant &variant, const prefill_result &r)
{
    const attn_geometry g = variant.geometry(o.shape);
    hipDeviceProp_t device;
    hip_check(hipGetDeviceProperties(&device, 0), "cannot ask the device for its name");
    json_line line;
    line.add("model_load_s", r.load_s)
        .add("tokenize_s", 0.0)
        .add("prefill_s", r.prefill_s)
        .add("decode_s", 0.0);
    line.add("attn_impl", variant.attn_impl).add("variant", variant.name).add("device", device.name);
    line.add("prompt_tokens", o.shape.seq).add("layers", o.layers).add("heads", o.shape.q_heads);
    line.add("kv_heads", o.shape.kv_heads).add("head_dim", o.shape.head_dim).add("causal", o.shape.causal);
    line.add("dtype", dtype_name(o.shape.dtype)).add("deterministic", variant.deterministic);
    line.add("kernel_ms_min", r.min_s * 1e3).add("kernel_ms_max", r.max_s * 1e3);
    line.add("tflops", attention_flops(o.shape) * o.layers / r.prefill_s / 1e12);
    line.add("grid_blocks", static_cast<size_t>(g.grid.x) * g.grid.y * g.grid.z);
    line.add("block_threads", g.block.x * g.block.y * g.block.z).add("query_threads", g.query_threads);
    line.add("dynamic_lds_bytes", g.shared_bytes);
    if (o.check)
        line.add("rel_l2", r.check.rel_l2).add("max_abs", r.check.max_abs).add("rows_checked", r.check.rows);
    return line.str();
}

int prefill(int argc, char **argv)
{
    if (asks_for_model(argc, argv))
        return run_model(argc, argv);
    const prefill_options o = parse_options(argc, argv);
    check_limit(o.shape.seq);
    require_device();
    const attn_variant &variant = choose_variant(o.attn);
    check_shape(o.shape, variant);
    const prefill_result result = time_layers(o, variant);

    std::printf("Prompt tokens: %d\n", o.shape.seq);
    std::printf("[PERF_TIMING] %s\n", timing_line(o, variant, result).c_str());
    if (!result.check.wrong.empty()) {
        std::printf("STATUS=FAIL\n");
        throw failure{EXIT_FAILED, std::string(variant.attn_impl) + ": " + result.check.wrong};
    }
    std::printf("STATUS=OK\n");
    return EXIT_OK;
}
} // namespace

int main(int argc, char **argv)
{
    if (argc > 1 && std::strcmp(argv[1], "make-model") == 0)
        return run_program("prefill make-model", make_model_command, argc - 1, argv + 1);
    return run_program("prefill", prefill, argc, argv);
}
