// The forward pass of files written by the format's specification, against the reference in fp64, which reads
// them with its own code: every row's logits, in every encoding.
#include "model/forward.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "tests/model_by_spec.h"
#include "tests/reference_forward.h"
#include "tests/tap.h"

#include <algorithm>
#include <cmath>

namespace
{
constexpr size_t prompt_tokens = 37;

std::vector<uint32_t> prompt(uint32_t vocab)
{
    std::vector<uint32_t> ids(prompt_tokens);
    for (size_t i = 0; i < ids.size(); i++)
        ids[i] = static_cast<uint32_t>((i * i * 13 + 5) % vocab);
    return ids;
}

std::vector<double> expected_logits(const std::string &path, const std::vector<uint32_t> &ids)
{
    reference_model *model = reference_open(path.c_str());
    std::vector<double> logits(ids.size() * reference_vocab(model));
    reference_logits(model, ids.data(), ids.size(), logits.data());
    reference_close(model);
    return logits;
}

std::vector<float> logits_of(const model_weights &weights, const attn_variant &variant,
                             const std::vector<uint32_t> &ids)
{
    const int count = static_cast<int>(ids.size());
    forward pass(weights, {&variant, count, count, 16, 8, true});
    std::vector<float> logits;
    pass.prefill(ids, nullptr, [&](const float *rows, int some) {
        logits.insert(logits.end(), rows, rows + static_cast<size_t>(some) * weights.shape().vocab);
    });
    return logits;
}

std::vector<float> logits_of(const model_file &file, const attn_variant &variant, attn_dtype type,
                             const std::vector<uint32_t> &ids)
{
    model_weights weights(file.shape(), type);
    weights.load(file.tensors());
    return logits_of(weights, variant, ids);
}

// That of the worst row, so that one wrong row cannot hide among the others.
double rel_l2(const std::vector<float> &got, const std::vector<double> &expected, size_t vocab)
{
    double worst = got.size() == expected.size() ? 0 : INFINITY;
    for (size_t row = 0; row + vocab <= std::min(got.size(), expected.size()); row += vocab) {
        double off = 0, all = 0;
        for (size_t i = row; i < row + vocab; i++) {
            off += (got[i] - expected[i]) * (got[i] - expected[i]);
            all += expected[i] * expected[i];
        }
        worst = std::isfinite(off) ? std::max(worst, std::sqrt(off / all)) : INFINITY;
    }
    return worst;
}

// bf16 has eight times the rounding error of f16.
double tolerance(const attn_variant &variant, attn_dtype type)
{
    if (type == ATTN_BF16)
        return 8e-2;
    return type == ATTN_F32 && variant.dtypes & 1u << ATTN_F32 ? 1e-4 : 1e-2;
}

void test_model(tap &t, const std::string &name, const spec_model &m, attn_dtype type = ATTN_F32,
                const attn_variant &variant = attn_variants().front())
{
    if (!t.wants(name + ": every row matches fp64"))
        return;
    const temporary_file written(write_model(m).bytes());
    const model_file file(written.path);
    const std::vector<uint32_t> ids = prompt(m.vocab);
    const double off =
        rel_l2(logits_of(file, variant, type, ids), expected_logits(written.path, ids), m.vocab);
    t.check(off <= tolerance(variant, type), name + ": every row matches fp64",
            "off by " + std::to_string(off));
    std::printf("# %s: rel. L2 of the worst row %.2g\n", name.c_str(), off);
}

spec_model encoded(uint32_t type)
{
    spec_model m;
    m.types = {type};
    return m;
}

void test_encodings(tap &t)
{
    test_model(t, "a file of F32", encoded(0));
    test_model(t, "a file of F16", encoded(1));
    test_model(t, "a file of BF16", encoded(30));
    test_model(t, "a file of Q8_0", encoded(8));
    test_model(t, "a file of Q4_0", encoded(2));
    test_model(t, "a file of all encodings, in f16", spec_model(), ATTN_F16);
    test_model(t, "a file of all encodings, in bf16", spec_model(), ATTN_BF16);
}

void test_shapes(tap &t)
{
    spec_model m;
    m.tied = true;
    m.alignment = 64;
    m.version = 2;
    test_model(t, "tied output, version 2, alignment 64", m);
    m = spec_model();
    m.rope_base = 500000;
    m.rope_scale = 4;
    test_model(t, "RoPE base 500000, positions scaled by 4", m);
    m = spec_model();
    m.width = 96;
    m.heads = 3;
    test_model(t, "heads wider in total than the embedding", m);
    m = spec_model();
    m.heads = m.kv_heads = 2;
    m.head_dim = 128;
    test_model(t, "heads of 128, not grouped", m);
}

// make-model's preset tiny: its file against the reference, and against the same weights generated on the
// device.
void test_made(tap &t, const std::string &name, tensor_type in_file, attn_dtype type)
{
    made_model m{"tiny", {}, 3, in_file, VOCABULARY_LLAMA};
    preset_shape("tiny", &m.shape);
    const temporary_file written("");
    make_model(m, written.path);
    const model_file file(written.path);
    const std::vector<uint32_t> ids = prompt(m.shape.vocab);
    model_weights made(m.shape, type);
    made.make(m.seed);
    const attn_variant &variant = attn_variants().front();
    const std::vector<float> logits = logits_of(file, variant, type, ids);
    const double off = rel_l2(logits, expected_logits(written.path, ids), m.shape.vocab);
    t.check(off <= tolerance(variant, type), name + ": every row matches fp64",
            "off by " + std::to_string(off));
    t.check(logits == logits_of(made, variant, ids),
            name + ": weights generated on the device give the same bits as the file's");
}

void test_all(tap &t)
{
    if (std::string(gemm::library()) == "none") {
        t.skip("every check", "built without a library for matrix products");
        return;
    }
    test_encodings(t);
    test_shapes(t);
    test_made(t, "the preset tiny in f32", TENSOR_F32, ATTN_F32);
    test_made(t, "the preset tiny in f16", TENSOR_F16, ATTN_F16);
    test_made(t, "the preset tiny in bf16", TENSOR_BF16, ATTN_BF16);
    for (const attn_variant &variant : attn_variants())
        test_model(t, std::string("variant ") + variant.name, spec_model(), ATTN_F32, variant);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("logits", test_all, argc, argv);
}
