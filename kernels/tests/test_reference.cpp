// The fp64 reference against results that can be derived independently, and its file reader against the
// runner's: the two implementations agree on every weight.
#include "base/failure.h"
#include "model/model_file.h"
#include "tests/model_by_spec.h"
#include "tests/reference_forward.h"
#include "tests/tap.h"

#include <cmath>
#include <memory>

namespace
{
struct reference {
    explicit reference(const gguf_by_spec &written)
        : file(written.bytes()), model(reference_open(file.path.c_str()))
    {
    }
    ~reference()
    {
        reference_close(model);
    }
    std::vector<double> logits(const std::vector<uint32_t> &tokens) const
    {
        std::vector<double> out(tokens.size() * reference_vocab(model));
        reference_logits(model, tokens.data(), tokens.size(), out.data());
        return out;
    }
    temporary_file file;
    reference_model *model;
};

void test_weights(tap &t)
{
    const reference r(write_model({}));
    const model_file file(r.file.path);
    model_tensors tensors = file.tensors();
    double worst = 0;
    for (const tensor_spec &spec : tensor_specs(file.shape())) {
        const double *wanted = reference_tensor(r.model, tensor_name(spec).c_str());
        std::vector<float> got(spec.rows * spec.cols);
        tensor_to_f32(tensor_at(tensors, spec), 0, spec.rows, got.data());
        for (size_t i = 0; i < got.size(); i++)
            worst = std::fmax(worst, std::fabs(got[i] - wanted[i]));
    }
    t.check(worst == 0, "both readers decode every weight of every encoding identically",
            std::to_string(worst));
}

// If the layers contribute nothing, the logits depend on the embedding only.
void test_without_layers(tap &t)
{
    spec_model m;
    m.types = {0};
    gguf_by_spec written = write_model(m);
    for (gguf_by_spec::tensor &tensor : written.tensors)
        if (tensor.name.find("attn_output") != std::string::npos ||
            tensor.name.find("ffn_down") != std::string::npos)
            tensor.data.assign(tensor.data.size(), '\0');
    const reference r(written);
    const double *e = reference_tensor(r.model, "token_embd.weight") + 7 * m.width;
    const double *factor = reference_tensor(r.model, "output_norm.weight");
    const double *output = reference_tensor(r.model, "output.weight") + 11 * m.width;
    double squares = 0, wanted = 0;
    for (uint32_t i = 0; i < m.width; i++)
        squares += e[i] * e[i] / m.width;
    for (uint32_t i = 0; i < m.width; i++)
        wanted += e[i] / std::sqrt(squares + static_cast<double>(1e-5f)) * factor[i] * output[i];
    t.check(std::fabs(r.logits({7})[11] - wanted) < 1e-12,
            "layers with zero weights leave the logit of the normalised embedding");
}

void test_order(tap &t)
{
    const reference r(write_model({}));
    const size_t vocab = reference_vocab(r.model);
    const std::vector<double> longer = r.logits({1, 5, 9, 260}), shorter = r.logits({1, 5, 9});
    const std::vector<double> swapped = r.logits({5, 1, 9});
    double worst = 0, moved = 0;
    for (size_t i = 0; i < shorter.size(); i++)
        worst = std::fmax(worst, std::fabs(longer[i] - shorter[i]));
    for (size_t i = 2 * vocab; i < 3 * vocab; i++)
        moved = std::fmax(moved, std::fabs(swapped[i] - shorter[i]));
    t.check(worst == 0, "logits do not depend on later tokens");
    t.check(moved > 1e-3, "logits depend on the order of earlier tokens", std::to_string(moved));
}

// Dividing positions by 1e12 disables RoPE, and then a single layer cannot see the order of the tokens before
// the last.
void test_rope(tap &t)
{
    spec_model m;
    m.layers = 1;
    m.rope_scale = 1e12f;
    const reference r(write_model(m));
    const size_t vocab = reference_vocab(r.model);
    const std::vector<double> a = r.logits({1, 5, 9}), b = r.logits({5, 1, 9});
    double moved = 0;
    for (size_t i = 2 * vocab; i < 3 * vocab; i++)
        moved = std::fmax(moved, std::fabs(a[i] - b[i]));
    t.check(moved < 1e-9, "without RoPE a single layer does not depend on the order of earlier tokens",
            std::to_string(moved));
}

void test_all(tap &t)
{
    test_weights(t);
    test_without_layers(t);
    test_order(t);
    test_rope(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("reference", test_all, argc, argv);
}
