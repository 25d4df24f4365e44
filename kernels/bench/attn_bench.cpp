// attn_bench: times one attention kernel repeatedly with device events, over rotating inputs that do not fit
// in the caches, and compares it with the ceilings measured on the same device in the same run. Follows
// kernsweep's workload contract; prefill_s is the median time of one launch. --json prints only the object.
// Exit 0: done; 1: failed (wrong result or device error); 2: bad input.
#include "base/device_room.h"
#include "base/json_line.h"
#include "base/timer.h"
#include "bench/roofline.h"
#include "bench/samples.h"
#include "runner/check.h"
#include "runner/cost.h"
#include "runner/options.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{
const char usage[] = "attn_bench --seq N [options]: time one attention kernel\n"
                     "  --variant NAME     same default as prefill's --attn\n"
                     "  --batch N          default 1\n"
                     "  --heads N          query heads, default 32\n"
                     "  --kv-heads N       key and value heads, default --heads\n"
                     "  --head-dim 64|128  default 128\n"
                     "  --dtype T          f32 (default), f16, bf16\n"
                     "  --causal, --no-causal\n"
                     "  --iters N          timed launches, default 20\n"
                     "  --warmup N         untimed launches before them, default 3\n"
                     "  --seed N           of Q, K and V, default 1\n"
                     "  --check            compare the first output with attention in fp64\n"
                     "  --json             print only the JSON object\n";

// Launches rotate over enough input sets to exceed the L2 by this factor, and any cache behind it.
constexpr size_t l2_multiple = 2;
#if defined(KS_PLATFORM_CPU)
constexpr size_t least_rotated = 0;
#else
constexpr size_t least_rotated = 512u << 20;
#endif

struct bench_options {
    attn_shape shape{1, 0, 32, 0, 128, true, ATTN_F32};
    std::string variant;
    int iters = 20, warmup = 3;
    uint64_t seed = 1;
    bool check = false, json = false;
};

struct bench_result {
    double load_s = 0;
    size_t sets = 0;
    samples times;
    roofline ceiling{};
    check_result check{};
};

bench_options parse_options(int argc, char **argv)
{
    bench_options o;
    arguments args(argc, argv);
    while (args.next()) {
        if (args.is("--seq") || args.is("--context"))
            o.shape.seq = args.number(1, 1 << 24);
        else if (args.is("--variant") || args.is("--attn"))
            o.variant = args.text();
        else if (args.is("--batch"))
            o.shape.batch = args.number(1, 4096);
        else if (heads_option(args, o.shape))
            continue;
        else if (args.is("--iters"))
            o.iters = args.number(1, 100000);
        else if (args.is("--warmup"))
            o.warmup = args.number(0, 100000);
        else if (args.is("--seed"))
            o.seed = args.seed();
        else if (args.is("--check"))
            o.check = true;
        else if (args.is("--json"))
            o.json = true;
        else if (args.is("--help")) {
            std::fputs(usage, stdout);
            std::exit(EXIT_OK);
        } else
            args.unknown();
    }
    if (o.shape.seq == 0)
        bad_input("--seq is missing: see --help");
    if (o.shape.kv_heads == 0)
        o.shape.kv_heads = o.shape.q_heads;
    return o;
}

size_t input_sets(const attn_shape &shape, const attn_variant &variant)
{
    hipDeviceProp_t device;
    hip_check(hipGetDeviceProperties(&device, 0), "cannot ask the device for its caches");
    const size_t bytes = tensors::bytes(shape, variant);
    const size_t rotated = std::max(least_rotated, l2_multiple * static_cast<size_t>(device.l2CacheSize));
    const size_t wanted = (rotated + bytes - 1) / bytes;
    return std::clamp<size_t>(ask_device_room().free / 2 / bytes, 1, std::max<size_t>(wanted, 1));
}

void launch(const attn_variant &variant, const tensors &memory)
{
    hip_check(variant.launch(memory.args(), nullptr), std::string("cannot launch ") + variant.attn_impl);
}

bench_result time_launches(const bench_options &o, const attn_variant &variant)
{
    bench_result result;
    const host_timer loading;
    std::vector<tensors> sets;
    result.sets = input_sets(o.shape, variant);
    for (size_t i = 0; i < result.sets; i++) {
        sets.emplace_back(o.shape, variant);
        sets.back().fill(o.seed + i);
        sets.back().poison();
    }
    hip_check(hipDeviceSynchronize(), "cannot fill the inputs");
    result.load_s = loading.seconds();
    if (o.check) {
        launch(variant, sets[0]);
        hip_check(hipDeviceSynchronize(), std::string(variant.attn_impl) + " failed");
        result.check = check_output(sets[0].args(), sets[0].copy(), o.seed);
    }
    device_timer timer;
    for (int i = 0; i < o.warmup + o.iters; i++) {
        timer.start();
        launch(variant, sets[static_cast<size_t>(i) % sets.size()]);
        timer.stop();
        const double seconds = timer.seconds(variant.attn_impl);
        if (i >= o.warmup)
            result.times.add(seconds);
    }
    sets.clear();
    result.ceiling = measure_roofline();
    return result;
}

void add_shape(json_line &line, const attn_shape &s)
{
    line.add("batch", s.batch).add("heads", s.q_heads).add("kv_heads", s.kv_heads).add("seq", s.seq);
    line.add("head_dim", s.head_dim).add("causal", s.causal).add("dtype", dtype_name(s.dtype));
}

void add_geometry(json_line &line, const attn_geometry &g, const hipDeviceProp_t &device)
{
    line.add("grid_blocks", static_cast<size_t>(g.grid.x) * g.grid.y * g.grid.z);
    line.add("block_threads", g.block.x * g.block.y * g.block.z).add("query_threads", g.query_threads);
    line.add("dynamic_lds_bytes", g.shared_bytes)
        .add("device", device.name)
        .add("units", device.multiProcessorCount);
}

// roofline_share: the longer of the two floors (memory, arithmetic) over the median time. The arithmetic
// ceiling of 16-bit types is that of the matrix cores, measured right after the launches, at their
// temperature.
void add_speed(json_line &line, const attn_shape &s, const bench_result &r)
{
    const double median = r.times.median();
    const double memory_floor = attention_bytes(s) / r.ceiling.copy_bytes_per_s;
    const double peak = s.dtype == ATTN_F32 ? r.ceiling.fma_flops : r.ceiling.matrix_flops;
    const double arithmetic_floor = attention_flops(s) / peak;
    const double floor = std::isnan(peak) ? NAN : std::max(memory_floor, arithmetic_floor);
    line.add("ms_median", median * 1e3).add("ms_min", r.times.min() * 1e3);
    line.add("ms_deviation", r.times.deviation() * 1e3);
    line.add("tflops", attention_flops(s) / median / 1e12).add("bytes", attention_bytes(s));
    line.add("gb_per_s", attention_bytes(s) / median / 1e9);
    line.add("copy_gb_per_s", r.ceiling.copy_bytes_per_s / 1e9).add("fma_tflops", r.ceiling.fma_flops / 1e12);
    line.add("matrix_tflops", r.ceiling.matrix_flops / 1e12)
        .add("roofline_share", share_of_ceiling(floor / median));
}

std::string result_line(const bench_options &o, const attn_variant &variant, const bench_result &r)
{
    hipDeviceProp_t device;
    hip_check(hipGetDeviceProperties(&device, 0), "cannot ask the device for its name");
    json_line line;
    line.add("model_load_s", r.load_s).add("tokenize_s", 0.0).add("prefill_s", r.times.median());
    line.add("decode_s", 0.0).add("attn_impl", variant.attn_impl).add("variant", variant.name);
    add_shape(line, o.shape);
    line.add("iters", o.iters).add("warmup", o.warmup).add("input_sets", r.sets);
    add_speed(line, o.shape, r);
    add_geometry(line, variant.geometry(o.shape), device);
    if (o.check)
        line.add("rel_l2", r.check.rel_l2).add("max_abs", r.check.max_abs).add("rows_checked", r.check.rows);
    return line.str();
}

int bench(int argc, char **argv)
{
    const bench_options o = parse_options(argc, argv);
    require_device();
    const attn_variant &variant = choose_variant(o.variant);
    check_shape(o.shape, variant);
    const bench_result result = time_launches(o, variant);
    const std::string line = result_line(o, variant, result);
    if (o.json)
        std::printf("%s\n", line.c_str());
    else
        std::printf("Prompt tokens: %d\n[PERF_TIMING] %s\nSTATUS=%s\n", o.shape.seq, line.c_str(),
                    result.check.wrong.empty() ? "OK" : "FAIL");
    if (!result.check.wrong.empty())
        throw failure{EXIT_FAILED, std::string(variant.attn_impl) + ": " + result.check.wrong};
    return EXIT_OK;
}
} // namespace

int main(int argc, char **argv)
{
    return run_program("attn_bench", bench, argc, argv);
}
