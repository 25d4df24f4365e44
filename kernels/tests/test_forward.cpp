// The forward pass against itself: a prompt at once, in chunks, and token by token; every variant; every
// type; determinism. test_logits compares its logits with the reference in fp64.
//   test_forward [--attn NAME]
#include "model/forward.h"
#include "model/fused.h"
#include "runner/options.h"
#include "tests/tap.h"

#include <cmath>

namespace
{
using numbers = std::vector<float>;
using tokens = std::vector<uint32_t>;

constexpr int prompt_tokens = 70;
constexpr int decoded_tokens = 6;

model_shape shape_of(uint32_t layers, uint32_t heads, uint32_t kv_heads, uint32_t head_dim, bool tied)
{
    return {layers, 192, heads, kv_heads, head_dim, 352, 512, 512, head_dim, 1e-5f, 10000.0f, 1.0f, tied};
}

// RoPE on half of a head's dimensions, with linear scaling.
model_shape with_rope_scaling(model_shape shape)
{
    shape.rope_dims /= 2;
    shape.rope_scale = 2.5f;
    return shape;
}

tokens prompt(size_t count, const model_shape &shape)
{
    tokens ids(count);
    for (size_t i = 0; i < count; i++)
        ids[i] = static_cast<uint32_t>((i * i * 31 + i * 7 + 3) % shape.vocab);
    return ids;
}

double rel_l2(const numbers &got, const numbers &expected)
{
    double off = 0, all = 0;
    for (size_t i = 0; i < expected.size(); i++) {
        off += (static_cast<double>(got[i]) - expected[i]) * (static_cast<double>(got[i]) - expected[i]);
        all += static_cast<double>(expected[i]) * expected[i];
    }
    return std::sqrt(off / all);
}

void close_to(tap &t, const std::string &name, const numbers &got, const numbers &expected, double tolerance)
{
    const double off = got.size() == expected.size() ? rel_l2(got, expected) : INFINITY;
    t.check(off <= tolerance, name, "off by " + std::to_string(off));
}

const attn_variant &variant_for(attn_dtype type)
{
    for (const attn_variant &variant : attn_variants()) {
        if (variant.dtypes & 1u << type)
            return variant;
    }
    return attn_variants().front();
}

forward_options options_for(const attn_variant &variant, int chunk = 4096)
{
    return {&variant, prompt_tokens, prompt_tokens + decoded_tokens, chunk, 16, true};
}

// The tolerance for logits that differ only in the order of summation.
double exactness(const attn_variant &variant)
{
    return variant.dtypes & 1u << ATTN_F32 ? 1e-5 : 5e-3;
}

numbers prefill_logits(const model_weights &weights, const forward_options &options, const tokens &ids)
{
    forward pass(weights, options);
    pass.warm_up();
    pass.prefill(ids, nullptr, nullptr);
    return pass.logits();
}

tokens greedy(const model_weights &weights, const forward_options &options, const tokens &ids)
{
    forward pass(weights, options);
    tokens chosen;
    pass.prefill(ids, nullptr, nullptr);
    for (int i = 0; i < decoded_tokens; i++) {
        chosen.push_back(pass.choose());
        pass.decode(chosen.back());
    }
    return chosen;
}

void test_one_by_one(tap &t, const std::string &name, const model_shape &shape)
{
    model_weights weights(shape, ATTN_F32);
    weights.make(5);
    const forward_options options = options_for(variant_for(ATTN_F32));
    const tokens ids = prompt(prompt_tokens, shape);
    const numbers at_once = prefill_logits(weights, options, ids);

    forward pass(weights, options);
    pass.prefill({ids[0]}, nullptr, nullptr);
    for (size_t i = 1; i < ids.size(); i++)
        pass.decode(ids[i]);
    close_to(t, name + ": a prefill gives the logits of as many decoding steps", at_once, pass.logits(),
             exactness(*options.variant));
    close_to(t, name + ": a prefill in chunks of 32 gives the same logits",
             prefill_logits(weights, options_for(*options.variant, 32), ids), at_once,
             exactness(*options.variant));
    numbers reversed = prefill_logits(weights, options, tokens(ids.rbegin(), ids.rend()));
    t.check(rel_l2(reversed, at_once) > 0.1, name + ": the reversed prompt gives other logits");
}

// With a cache for exactly the prompt, an access beyond its rows is out of bounds.
void test_no_room(tap &t)
{
    const model_shape shape = shape_of(1, 2, 2, 64, false);
    model_weights weights(shape, ATTN_F32);
    weights.make(4);
    forward_options options = options_for(variant_for(ATTN_F32));
    const tokens ids = prompt(64, shape);
    options.prompt = options.capacity = 64;
    const numbers fits = prefill_logits(weights, options, ids);
    options.capacity = 128;
    close_to(t, "a cache for exactly the prompt gives the same logits as a larger one", fits,
             prefill_logits(weights, options, ids), 1e-6);
}

// Where the planned rows are fused, there is no room for the plain products of fewer rows.
void test_shorter_than_planned(tap &t)
{
    constexpr int planned = 2700, taken = 300;
    const std::string name = "a prompt shorter than planned gives the same logits";
    const model_shape shape = {1, 1024, 8, 8, 128, 10112, 512, planned, 128, 1e-5f, 10000.0f, 1.0f, false};
    const attn_variant *variant = attn_find("v5");
    if (!variant ||
        !fuses_gate_up(ATTN_BF16, planned, static_cast<int>(shape.ffn), static_cast<int>(shape.width))) {
        t.skip(name, "this device fuses no product");
        return;
    }
    model_weights weights(shape, ATTN_BF16);
    weights.make(11);
    forward_options options = options_for(*variant);
    const tokens ids = prompt(taken, shape);
    options.prompt = options.capacity = taken;
    const numbers expected = prefill_logits(weights, options, ids);
    options.prompt = options.capacity = planned;
    close_to(t, name, prefill_logits(weights, options, ids), expected, 1e-2);
}

// Every product of the layers with its epilogue, against the plain products that chunks of few rows take.
void test_fused_layers(tap &t)
{
    constexpr int rows = 2700;
    const std::string name = "layers of fused products give the logits of plain ones";
    const model_shape shape = {3, 1536, 12, 12, 128, 10112, 512, rows, 128, 1e-5f, 10000.0f, 1.0f, false};
    const int width = static_cast<int>(shape.width);
    const attn_variant *variant = attn_find("v5");
    if (!variant || !fuses_sum(ATTN_BF16, rows, width, width)) {
        t.skip(name, "this device fuses no product");
        return;
    }
    model_weights weights(shape, ATTN_BF16);
    weights.make(12);
    const tokens ids = prompt(rows, shape);
    const auto every_row = [&](int chunk) {
        forward_options options = options_for(*variant, chunk);
        options.prompt = options.capacity = rows;
        forward pass(weights, options);
        pass.warm_up();
        numbers logits;
        pass.prefill(ids, nullptr, [&](const float *some, int count) {
            logits.insert(logits.end(), some, some + static_cast<size_t>(count) * shape.vocab);
        });
        return logits;
    };
    const numbers plain = every_row(270);
    close_to(t, name, every_row(rows), plain, 1e-2);
    close_to(t, name + ", a rest of few rows behind them", every_row(2600), plain, 1e-2);
}

void test_all_logits(tap &t)
{
    const model_shape shape = shape_of(2, 3, 1, 64, false);
    model_weights weights(shape, ATTN_F32);
    weights.make(6);
    const tokens ids = prompt(prompt_tokens, shape);
    const attn_variant &variant = variant_for(ATTN_F32);
    forward pass(weights, options_for(variant, 32));
    numbers all;
    pass.prefill(ids, nullptr, [&](const float *rows, int count) {
        all.insert(all.end(), rows, rows + static_cast<size_t>(count) * shape.vocab);
    });
    t.check(all.size() == ids.size() * shape.vocab, "the sink gets the logits of every row");
    close_to(t, "the sink's logits of the last row are the prefill's",
             numbers(all.end() - shape.vocab, all.end()), pass.logits(), exactness(variant));
    pass.prefill(tokens(ids.begin(), ids.begin() + 20), nullptr, nullptr);
    const auto row = all.begin() + static_cast<long>(19 * shape.vocab);
    close_to(t, "the sink's logits of row 19 are those of a prefill of 20 tokens",
             numbers(row, row + shape.vocab), pass.logits(), 1e-5);
}

// Floating-point operations of the products of a prefill, with `behind` rows behind the last attention.
double operations(const model_shape &s, size_t rows, size_t behind, size_t logits)
{
    const double query_width = s.heads * s.head_dim, key_width = s.kv_heads * s.head_dim;
    const double front = s.width * (query_width + 2 * key_width),
                 back = s.width * (query_width + 3.0 * s.ffn);
    return 2.0 * (static_cast<double>(rows) * (s.layers * front + (s.layers - 1) * back) +
                  static_cast<double>(behind) * back + static_cast<double>(logits * s.width * s.vocab));
}

// Without a sink, the last layer continues with the last row only.
void test_last_layer(tap &t, uint32_t layers, int chunk, const attn_variant &variant)
{
    const std::string name = std::string(variant.name) + ", layers: " + std::to_string(layers) +
                             ", chunk: " + std::to_string(chunk);
    const model_shape shape = shape_of(layers, 3, 1, 64, false);
    model_weights weights(shape, ATTN_F32);
    weights.make(10);
    const tokens ids = prompt(prompt_tokens, shape);
    forward pass(weights, options_for(variant, chunk));
    numbers all;
    pass.prefill(ids, nullptr, [&](const float *rows, int count) {
        all.insert(all.end(), rows, rows + static_cast<size_t>(count) * shape.vocab);
    });
    t.check(pass.product_flops() == operations(shape, ids.size(), ids.size(), ids.size() + 1),
            name + ": with a sink every row passes every layer");
    pass.prefill(ids, nullptr, nullptr);
    t.check(pass.product_flops() == operations(shape, ids.size(), 1, 1),
            name + ": without a sink one row passes the last layer's end");
    close_to(t, name + ": the last row's logits are the same with and without a sink", pass.logits(),
             numbers(all.end() - shape.vocab, all.end()), exactness(variant));
    pass.decode(ids[0]);
    t.check(pass.product_flops() == operations(shape, 1, 1, 1), name + ": a decoding step is one row");
}

void test_last_layers(tap &t)
{
    const attn_variant *converts = attn_find("v5"); // its output is in f16
    for (const attn_variant *variant : {&variant_for(ATTN_F32), converts}) {
        if (!variant)
            continue;
        test_last_layer(t, 1, 4096, *variant);
        test_last_layer(t, 2, 32, *variant);
        test_last_layer(t, 2, 23, *variant); // one row in the last chunk
    }
}

void test_variants(tap &t, const std::string &only)
{
    const model_shape shape = shape_of(2, 4, 2, 64, false);
    model_weights weights(shape, ATTN_F32);
    weights.make(7);
    const tokens ids = prompt(prompt_tokens, shape);
    const tokens expected = greedy(weights, options_for(variant_for(ATTN_F32)), ids);
    for (const attn_variant &variant : attn_variants()) {
        if (!only.empty() && only != variant.name)
            continue;
        const forward_options options = options_for(variant);
        t.check(greedy(weights, options, ids) == expected,
                std::string(variant.name) + ": the same greedy tokens as with an fp32 variant");
        if (variant.deterministic)
            t.check(prefill_logits(weights, options, ids) == prefill_logits(weights, options, ids),
                    std::string(variant.name) + ": a second prefill gives the same bits");
    }
}

void test_types(tap &t)
{
    const model_shape shape = shape_of(2, 2, 2, 128, false);
    const tokens ids = prompt(prompt_tokens, shape);
    model_weights exact(shape, ATTN_F32);
    exact.make(8);
    const numbers expected = prefill_logits(exact, options_for(variant_for(ATTN_F32)), ids);
    for (const attn_dtype type : {ATTN_F16, ATTN_BF16}) {
        model_weights weights(shape, type);
        weights.make(8);
        const double tolerance = type == ATTN_F16 ? 5e-3 : 4e-2;
        for (const attn_dtype attention : {ATTN_F32, type}) {
            const attn_variant &variant = variant_for(attention);
            close_to(t,
                     std::string(type == ATTN_F16 ? "f16" : "bf16") + " weights, variant " + variant.name +
                         ": logits close to those of f32",
                     prefill_logits(weights, options_for(variant), ids), expected, tolerance);
        }
    }
}

void test_stages(tap &t)
{
    const model_shape shape = shape_of(1, 1, 1, 64, false);
    model_weights weights(shape, ATTN_F32);
    weights.make(9);
    forward pass(weights, options_for(variant_for(ATTN_F32)));
    stage_clock clock;
    pass.prefill(prompt(prompt_tokens, shape), &clock, nullptr);
    const stage_seconds seconds = clock.seconds("the prefill");
    t.check(seconds.of[STAGE_GEMM] > 0 && seconds.of[STAGE_ATTENTION] > 0 && seconds.of[STAGE_OTHER] > 0,
            "the clock reports a positive time for each stage");
}

// With a prompt eight times as long, only per-row buffers may grow, and at most eightfold.
void test_memory(tap &t)
{
    const model_shape shape = shape_of(2, 4, 4, 64, false);
    forward_options options = options_for(variant_for(ATTN_BF16), 1024);
    options.prompt = options.capacity = 4096;
    const forward_memory at_4096 = forward::memory(shape, ATTN_BF16, options);
    options.prompt = options.capacity = 32768;
    const forward_memory at_32768 = forward::memory(shape, ATTN_BF16, options);
    t.check(at_4096.weights == at_32768.weights && at_32768.cache == 8 * at_4096.cache &&
                at_32768.scratch <= 8 * at_4096.scratch,
            "no buffer grows faster than the prompt");
}

void test_all(tap &t, int argc, char **argv)
{
    std::string only;
    arguments args(argc, argv);
    while (args.next()) {
        if (!args.is("--attn"))
            args.unknown();
        only = choose_variant(args.text()).name;
    }
    if (std::string(gemm::library()) == "none") {
        t.skip("every check", "built without a library for matrix products");
        return;
    }
    test_one_by_one(t, "grouped heads", shape_of(2, 4, 2, 64, false));
    test_one_by_one(t, "heads of 128, tied output", shape_of(1, 2, 2, 128, true));
    test_one_by_one(t, "a stream wider than the queries", shape_of(2, 2, 1, 64, false));
    test_one_by_one(t, "half rotated, scaled positions", with_rope_scaling(shape_of(2, 3, 1, 64, false)));
    test_no_room(t);
    test_shorter_than_planned(t);
    test_fused_layers(t);
    test_all_logits(t);
    test_last_layers(t);
    test_variants(t, only);
    test_types(t);
    test_stages(t);
    test_memory(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("forward pass", test_all, argc, argv);
}
