#include "runner/model_run.h"
#include "base/device_room.h"
#include "base/hip_check.h"
#include "base/json_line.h"
#include "base/timer.h"
#include "model/forward.h"
#include "model/ops.h"
#include "runner/cost.h"
#include "runner/model_source.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace
{
using tokens = std::vector<uint32_t>;

constexpr size_t logit_bytes = 64u << 20; // computed at a time, when all rows are wanted

// By then a card has reached its power limit; a slow variant's test must not take twice as long.
constexpr double longest_sustained_s = 2;

// Rates of a large GEMM, in operations per second. A card at its power limit cannot hold the best one.
struct gemm_ceiling {
    double best = 0;      // of a few before the prefill and after it, each of some milliseconds on a GPU
    double sustained = 0; // back to back, for as long as the prefill took, but at most longest_sustained_s
};

struct model_result {
    double load_s = 0, tokenize_s = 0, decode_s = 0;
    stage_seconds prefill;
    tokens prompt, answer;
    forward_memory memory{};
    size_t memory_used = 0; // on the device, by all processes; 0: unknown
    gemm_ceiling ceiling;
    double product_flops = 0; // of the prefill
    bool fused_products = false;
    bool finite = true;
};

void check_length(size_t prompt, const model_shape &shape)
{
    const int limit = token_limit();
    const std::string tokens = "the prompt has " + std::to_string(prompt) + " tokens";
    if (limit != 0 && prompt > static_cast<size_t>(limit))
        bad_input(tokens + ", more than GRETA_MAX_SEQ_LEN " + std::to_string(limit));
    if (limit == 0 && prompt > shape.context_length)
        bad_input(tokens + ", more than the model's context length " + std::to_string(shape.context_length) +
                  ": set GRETA_MAX_SEQ_LEN to allow them");
}

forward_options options_for(const model_options &o, const attn_variant &variant, const model_shape &shape,
                            size_t prompt)
{
    const size_t row_bytes = shape.vocab * sizeof(float);
    const size_t rows = std::max<size_t>(1, std::min(logit_bytes / row_bytes, prompt));
    return {&variant,
            static_cast<int>(prompt),
            static_cast<int>(prompt) + o.max_tokens - 1,
            o.chunk ? o.chunk : forward::best_chunk(shape, o.dtype, variant),
            o.logits.empty() ? 1 : static_cast<int>(rows),
            o.deterministic};
}

void check_memory(const forward_memory &m, const forward_options &f)
{
    require_room(m.total(),
                 gib(m.weights) + " of weights, " + gib(m.cache) + " of cache for " +
                     std::to_string(f.capacity) + " tokens and " + gib(m.scratch) + " of scratch",
                 "lower --context, or use --dtype bf16");
}

void check_variant(const model_options &o, const attn_variant &variant, const model_shape &shape)
{
    const std::string problem = forward::problem(shape, variant);
    if (!problem.empty())
        bad_input(problem);
    if (o.deterministic && !variant.deterministic)
        bad_input(std::string("--deterministic: variant ") + variant.name + " is not deterministic");
}

// Writes every row's logits to a file, under a temporary name until it is complete.
class logits_file
{
  public:
    explicit logits_file(const std::string &path) : path_(path), part_(path + ".part")
    {
        file_ = std::fopen(part_.c_str(), "wbe");
        if (!file_)
            bad_input("cannot write " + part_);
    }
    ~logits_file()
    {
        if (file_) {
            std::fclose(file_);
            std::remove(part_.c_str());
        }
    }
    logits_file(const logits_file &) = delete;
    logits_file &operator=(const logits_file &) = delete;

    void add(const float *logits, size_t count)
    {
        if (std::fwrite(logits, sizeof *logits, count, file_) != count)
            throw failure{EXIT_FAILED, "cannot write " + part_ + ": is the disk full?"};
    }
    void close()
    {
        const bool written = std::fclose(file_) == 0 && std::rename(part_.c_str(), path_.c_str()) == 0;
        file_ = nullptr;
        if (!written)
            throw failure{EXIT_FAILED, "cannot write " + path_ + ": is the disk full?"};
    }

  private:
    std::string path_, part_;
    std::FILE *file_;
};

stage_seconds timed_prefill(const model_options &o, forward &pass, const model_shape &shape,
                            const tokens &ids)
{
    stage_clock clock;
    if (o.logits.empty()) {
        pass.prefill(ids, &clock, nullptr);
        return clock.seconds("the prefill");
    }
    logits_file file(o.logits);
    pass.prefill(ids, &clock, [&](const float *logits, int rows) {
        file.add(logits, static_cast<size_t>(rows) * shape.vocab);
    });
    const stage_seconds seconds = clock.seconds("the prefill");
    file.close();
    return seconds;
}

tokens decode(const model_options &o, const model_source &source, forward &pass)
{
    tokens answer = {pass.choose()};
    while (answer.size() < static_cast<size_t>(o.max_tokens) && !source.ends(answer.back())) {
        pass.decode(answer.back());
        answer.push_back(pass.choose());
    }
    return answer;
}

size_t memory_used()
{
#if defined(KS_PLATFORM_CPU)
    return 0; // host memory, which other processes share
#else
    const device_room room = ask_device_room();
    return room.total - room.free;
#endif
}

// `before`: what was measured on the card before the prefill, which has made it hot.
// `prefill_s`: how long the GEMMs run back to back; 0: they do not.
gemm_ceiling measure_ceiling(attn_dtype type, const gemm_ceiling &before, double prefill_s)
{
#if defined(KS_PLATFORM_CPU)
    constexpr int size = 512;
#else
    constexpr int size = 8192;
#endif
    const size_t count = static_cast<size_t>(size) * size;
    const device_memory x(count * dtype_bytes(type)), w(count * dtype_bytes(type)),
        y(count * dtype_bytes(type));
    op_seeded(x.get(), type, {1, 0, 1e-5f}, count); // zeros would draw less power and so run faster
    op_seeded(w.get(), type, {2, 0, 1e-5f}, count);
    gemm products(false);
    device_timer timer;
    const auto seconds = [&](int repetitions) {
        timer.start();
        for (int i = 0; i < repetitions; i++)
            products.multiply(y.get(), type, x.get(), w.get(), type, size, size, size);
        timer.stop();
        return timer.seconds("a large product");
    };
    double fastest = INFINITY;
    for (int i = 0; i < 12; i++)
        fastest = std::min(fastest, seconds(1));
    const double operations = 2.0 * size * size * size, best = std::max(before.best, operations / fastest);
    if (prefill_s == 0)
        return {best, 0};
    const int repetitions =
        std::max(1, static_cast<int>(std::lround(std::min(prefill_s, longest_sustained_s) / fastest)));
    return {best, operations * repetitions / seconds(repetitions)};
}

model_result run_prompt(const model_options &o, const attn_variant &variant, const model_source &source,
                        double opened_s)
{
    model_result result;
    const model_shape &shape = source.shape();
    check_variant(o, variant, shape);
    const host_timer tokenizing;
    result.prompt = source.prompt();
    result.tokenize_s = tokenizing.seconds();
    check_length(result.prompt.size(), shape);
    if (o.ceiling)
        result.ceiling = measure_ceiling(o.dtype, {}, 0);

    const host_timer loading;
    const forward_options f = options_for(o, variant, shape, result.prompt.size());
    result.memory = forward::memory(shape, o.dtype, f);
    check_memory(result.memory, f);

    model_weights weights(shape, o.dtype);
    source.fill(weights);
    auto pass = std::make_unique<forward>(weights, f);
    pass->warm_up();
    result.load_s = opened_s + loading.seconds();
    result.prefill = timed_prefill(o, *pass, shape, result.prompt);
    result.product_flops = pass->product_flops();
    const host_timer decoding;
    result.answer = decode(o, source, *pass);
    result.decode_s = decoding.seconds();
    result.memory_used = memory_used();
    for (const float x : pass->logits())
        result.finite &= std::isfinite(x);
    result.fused_products = pass->fused_products();
    pass.reset();
    if (o.ceiling)
        result.ceiling = measure_ceiling(o.dtype, result.ceiling, result.prefill.total());
    return result;
}

void add_speed(json_line &line, const model_shape &s, const model_result &r)
{
    const int prompt = static_cast<int>(r.prompt.size());
    const double total = r.prefill.total();
    const double attention =
        s.layers * attention_flops({1, prompt, static_cast<int>(s.heads), static_cast<int>(s.kv_heads),
                                    static_cast<int>(s.head_dim), true, ATTN_F32});
    line.add("gemm_s", r.prefill.of[STAGE_GEMM]).add("attention_s", r.prefill.of[STAGE_ATTENTION]);
    line.add("other_s", r.prefill.of[STAGE_OTHER]).add("prefill_tokens_per_s", prompt / total);
    line.add("attention_share", r.prefill.of[STAGE_ATTENTION] / total);
    line.add("gemm_tflops", r.product_flops / r.prefill.of[STAGE_GEMM] / 1e12);
    line.add("attention_tflops", attention / r.prefill.of[STAGE_ATTENTION] / 1e12);
    const double rate = (r.product_flops + attention) / total;
    line.add("tflops", rate / 1e12);
    if (r.ceiling.best == 0)
        return;
    line.add("ceiling_tflops", r.ceiling.best / 1e12)
        .add("roofline_share", share_of_ceiling(rate / r.ceiling.best));
    line.add("sustained_tflops", r.ceiling.sustained / 1e12)
        .add("sustained_share", rate / r.ceiling.sustained);
}

void add_memory(json_line &line, const model_result &r)
{
    line.add("weights_bytes", r.memory.weights).add("cache_bytes", r.memory.cache);
    line.add("scratch_bytes", r.memory.scratch).add("planned_bytes", r.memory.total());
    if (r.memory_used != 0)
        line.add("memory_used_bytes", r.memory_used);
}

std::string timing_line(const model_options &o, const attn_variant &variant, const model_source &source,
                        const model_result &r)
{
    hipDeviceProp_t device;
    hip_check(hipGetDeviceProperties(&device, 0), "cannot ask the device for its name");
    json_line line;
    line.add("model_load_s", r.load_s).add("tokenize_s", r.tokenize_s).add("prefill_s", r.prefill.total());
    line.add("decode_s", r.decode_s).add("attn_impl", variant.attn_impl).add("variant", variant.name);
    line.add("device", device.name).add("model", source.name());
    line.add("prompt_tokens", r.prompt.size()).add("decoded_tokens", r.answer.size());
    line.add("dtype", dtype_name(o.dtype)).add("attn_dtype", dtype_name(attention_type(variant, o.dtype)));
    line.add("deterministic", o.deterministic).add("gemm_library", gemm::library());
    line.add("fused_products", r.fused_products);
    add_speed(line, source.shape(), r);
    add_memory(line, r);
    return line.str();
}
} // namespace

int run_model(int argc, char **argv)
{
    const model_options o = parse_model_options(argc, argv);
    require_device();
    const attn_variant &variant = choose_variant(o.attn);
    const host_timer opening;
    const model_source source(o);
    const model_result result = run_prompt(o, variant, source, opening.seconds());
    const std::string line = timing_line(o, variant, source, result);
    if (o.json)
        std::printf("%s\n", line.c_str());
    else
        std::printf("Prompt tokens: %zu\n%s\n[PERF_TIMING] %s\nSTATUS=%s\n", result.prompt.size(),
                    source.text(result.answer).c_str(), line.c_str(), result.finite ? "OK" : "FAIL");
    if (!result.finite)
        throw failure{EXIT_FAILED, std::string(variant.attn_impl) + ": the logits are not finite"};
    return EXIT_OK;
}
