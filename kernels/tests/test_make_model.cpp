// The files of make-model: both readers read them, the weights are those of the seed, and the vocabulary is
// usable.
#include "base/failure.h"
#include "model/make_model.h"
#include "model/model_file.h"
#include "model/seeded.h"
#include "model/tokenizer.h"
#include "tests/gguf_by_spec.h"
#include "tests/reference_forward.h"
#include "tests/tap.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace
{
// Narrower than the preset, so that tests are fast.
made_model narrow_model(tensor_type type, vocabulary_kind vocabulary)
{
    made_model m{"tiny", {}, 7, type, vocabulary};
    preset_shape("tiny", &m.shape);
    m.shape.width = 64;
    m.shape.heads = 1;
    m.shape.kv_heads = 1;
    m.shape.ffn = 96;
    return m;
}

std::string content(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

struct made {
    explicit made(const made_model &m) : place("")
    {
        make_model(m, place.path);
    }
    temporary_file place;
};

void test_weights(tap &t, tensor_type type, double tolerance)
{
    const made_model m = narrow_model(type, VOCABULARY_LLAMA);
    const made file(m);
    const model_file model(file.place.path);
    model_tensors tensors = model.tensors();
    double worst = 0;
    for (const tensor_spec &spec : tensor_specs(m.shape)) {
        const seeded_tensor seeded = seeded_weights(spec, m.shape, m.seed);
        std::vector<float> got(spec.rows * spec.cols);
        tensor_to_f32(tensor_at(tensors, spec), 0, spec.rows, got.data());
        for (size_t i = 0; i < got.size(); i++)
            worst = std::fmax(worst, std::fabs(got[i] - seeded_value(seeded, i)));
    }
    const model_shape &s = model.shape();
    const bool shape = s.layers == 2 && s.width == 64 && s.vocab == 1024 && s.head_dim == 64 &&
                       s.rms_eps == 1e-5f && s.rope_dims == 64 && s.context_length == 8192 && !s.tied_output;
    t.check(shape && worst <= tolerance,
            std::string(tensor_type_name(type)) + ": the file has the seed's weights", std::to_string(worst));
}

void test_logits(tap &t)
{
    const made_model m = narrow_model(TENSOR_F32, VOCABULARY_LLAMA);
    const made file(m);
    reference_model *reference = reference_open(file.place.path.c_str());
    const size_t vocab = reference_vocab(reference);
    std::vector<uint32_t> tokens = {1}, chosen;
    std::vector<double> logits;
    double most = 0;
    for (int i = 0; i < 24; i++) {
        logits.resize(tokens.size() * vocab);
        reference_logits(reference, tokens.data(), tokens.size(), logits.data());
        const auto last = logits.end() - static_cast<long>(vocab);
        chosen.push_back(static_cast<uint32_t>(std::max_element(last, logits.end()) - last));
        most = std::fmax(most, *std::max_element(last, logits.end()));
        tokens.push_back(chosen.back());
    }
    reference_close(reference);
    std::sort(chosen.begin(), chosen.end());
    const long different = std::unique(chosen.begin(), chosen.end()) - chosen.begin();
    t.check(most > 4 && most < 100, "the largest logits are between 4 and 100", std::to_string(most));
    t.check(different > 8, "more than 8 of 24 greedy tokens differ",
            std::to_string(different) + " of 24 differ");
}

void test_same_again(tap &t)
{
    made_model m = narrow_model(TENSOR_F16, VOCABULARY_LLAMA);
    const made first(m), again(m);
    m.seed++;
    const made other(m);
    t.check(!content(first.place.path).empty() && content(first.place.path) == content(again.place.path),
            "the same seed gives the same file");
    t.check(content(first.place.path) != content(other.place.path), "another seed gives another file");
}

void test_vocabulary(tap &t, vocabulary_kind kind, const std::string &name)
{
    const made file(narrow_model(TENSOR_Q4_0, kind));
    const model_file model(file.place.path);
    const tokenizer k(model.file(), model.shape().vocab);
    const std::string text =
        "The executor writes its journal; the harness follows it.\n\tCaf\xc3\xa9 \xe4\xb8\xad 42";
    const std::vector<uint32_t> ids = k.encode(text);
    t.check(k.decode(ids) == text, name + ": decoding an encoded text gives the text", k.decode(ids));
    t.check(ids.size() < text.size() / 2, name + ": a token stands for more than two bytes on average",
            std::to_string(ids.size()));
    const std::vector<uint32_t> word = k.encode("the harness");
    t.check(word.size() <= 4, name + ": \"the harness\" takes at most 4 tokens", std::to_string(word.size()));
    bool exact = true;
    for (const size_t n : {1u, 2u, 5u, 128u, 1000u, 8191u}) {
        const tokenizer::prompt prompt = k.exact_prompt(n);
        exact = exact && prompt.ids.size() == n && k.encode(prompt.text) == prompt.ids;
    }
    t.check(exact, name + ": exact_prompt() gives exactly n tokens, and their text encodes to them");
}

void test_learning(tap &t)
{
    // the pair ab occurs 5 times, bc 3 times (twice within abc): a+b first; then ab+c twice and b+c once
    const std::vector<std::vector<std::string>> words = {
        {"a", "b"}, {"a", "b"}, {"a", "b"}, {"a", "b", "c"}, {"a", "b", "c"}, {"b", "c"}, {"d", "e"}};
    const std::vector<learnt_merge> merges = learn_merges(words, 10);
    t.check(merges.size() == 2 && merges[0].left == "a" && merges[0].right == "b" && merges[1].left == "ab" &&
                merges[1].right == "c",
            "merges are learnt by frequency, and no pair that occurs once", std::to_string(merges.size()));
    const std::vector<learnt_merge> one = learn_merges(words, 1);
    t.check(one.size() == 1 && one[0].left == "a" && one[0].right == "b",
            "learning at most one merge learns the most frequent one");
}

void test_failing(tap &t)
{
    const std::string path = "/nonexistent/folder/model.gguf";
    try {
        make_model(narrow_model(TENSOR_F32, VOCABULARY_LLAMA), path);
        t.check(false, "a missing folder is an error that names the path", "no error");
    } catch (const failure &f) {
        t.check(f.code == EXIT_BAD_INPUT && f.message.find(path) == 0,
                "a missing folder is an error that names the path", f.message);
    }
}

void test_all(tap &t)
{
    test_weights(t, TENSOR_F32, 0);
    test_weights(t, TENSOR_F16, 0x1p-9);
    test_weights(t, TENSOR_BF16, 0x1p-6);
    test_weights(t, TENSOR_Q8_0, 0.025);
    test_weights(t, TENSOR_Q4_0, 0.5);
    test_logits(t);
    test_same_again(t);
    test_vocabulary(t, VOCABULARY_LLAMA, "llama");
    test_vocabulary(t, VOCABULARY_GPT2, "gpt2");
    test_learning(t);
    test_failing(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("make-model", test_all, argc, argv);
}
