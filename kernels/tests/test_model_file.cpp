// Valid model files of many kinds, and invalid ones, which are refused in one line that says what is wrong
// where.
#include "base/failure.h"
#include "model/model_file.h"
#include "tests/model_by_spec.h"
#include "tests/tap.h"

#include <cmath>
#include <functional>

namespace
{
// "" when it opens.
std::string open_problem(const std::string &content)
{
    const temporary_file file(content);
    try {
        const model_file model(file.path);
    } catch (const failure &f) {
        return f.code == EXIT_BAD_INPUT ? f.message : "exit " + std::to_string(f.code);
    }
    return "";
}

void test_shapes(tap &t)
{
    spec_model m;
    m.rope_scale = 4;
    m.rope_base = 500000;
    const gguf_by_spec written = write_model(m);
    const temporary_file file(written.bytes());
    const model_file model(file.path);
    const model_shape &s = model.shape();
    t.check(s.layers == 2 && s.width == 128 && s.heads == 2 && s.kv_heads == 1 && s.head_dim == 64 &&
                s.ffn == 96 && s.vocab == 300 && s.context_length == 512 && s.rope_dims == 64 &&
                s.rms_eps == 1e-5f && s.rope_base == 500000.0f && s.rope_scale == 4.0f && !s.tied_output,
            "the shape is read from the metadata");
    bool same = true;
    for (const gguf_by_spec::tensor &wrote : written.tensors)
        for (const tensor_spec &spec : tensor_specs(s)) {
            model_tensors tensors = model.tensors();
            if (tensor_name(spec) == wrote.name)
                same = same &&
                       std::memcmp(tensor_at(tensors, spec).data, wrote.data.data(), wrote.data.size()) == 0;
        }
    t.check(same, "every tensor view shows the bytes that were written");
}

void test_variety(tap &t)
{
    for (const uint32_t version : {2u, 3u})
        for (const uint32_t alignment : {8u, 32u, 64u, 4096u}) {
            spec_model m;
            m.version = version;
            m.alignment = alignment;
            const std::string problem = open_problem(write_model(m).bytes());
            t.check(problem.empty(),
                    "a file of version " + std::to_string(version) + " with alignment " +
                        std::to_string(alignment) + " opens",
                    problem);
        }
    spec_model m;
    m.tied = true;
    const temporary_file tied(write_model(m).bytes());
    const model_file model(tied.path);
    t.check(model.shape().tied_output && model.tensors().output.data == model.tensors().embedding.data,
            "without output.weight the embedding is the output");
    m = {};
    m.heads = 4; // wider than the embedding: key_length says so
    m.kv_heads = 2;
    t.check(open_problem(write_model(m).bytes()).empty(), "key_length sets the width of heads");
}

std::string array_of(uint32_t type, uint64_t count, const std::string &values)
{
    return gguf_by_spec::number(type) + gguf_by_spec::number(count) + values;
}

// Unused keys of every type, before those that are needed.
void test_unknown_keys(tap &t)
{
    using spec = gguf_by_spec;
    const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    spec file = write_model({});
    const std::string needed = file.metadata;
    file.metadata.clear();
    for (uint32_t type = spec::U8; type <= spec::F64; type++) {
        if (type == spec::STRING || type == spec::ARRAY)
            continue;
        const std::string key = "vendor.number" + std::to_string(type);
        file.raw(key, type, std::string(sizes[type], '\1'));
        file.raw(key + ".list", spec::ARRAY, array_of(type, 3, std::string(3 * sizes[type], '\1')));
        file.raw(key + ".none", spec::ARRAY, array_of(type, 0, ""));
    }
    file.text("vendor.text", "");
    file.text("vendor.long", std::string(200000, 'x')); // longer than what is read at a time
    std::vector<std::string> table(20000);
    for (size_t i = 0; i < table.size(); i++)
        table[i] = std::string(i % 41, 'y');
    file.strings("vendor.table", table);
    const std::string inner =
        array_of(spec::F64, 2, std::string(16, '\1')) + array_of(spec::STRING, 1, spec::string("z"));
    file.raw("vendor.nested", spec::ARRAY,
             array_of(spec::ARRAY, 2, array_of(spec::ARRAY, 2, inner) + array_of(spec::ARRAY, 0, "")));
    file.metadata += needed;
    const std::string problem = open_problem(file.bytes());
    t.check(problem.empty(), "unused keys of every type, long and nested, are skipped", problem);
}

// The ways in which files specify the position scale, including those that predate scaling.type.
void test_rope_scaling(tap &t)
{
    struct spelling {
        const char *name, *type, *key; // "": not there
        float factor, wanted;
    };
    const spelling spellings[] = {{"type linear", "linear", "llama.rope.scaling.factor", 4, 4},
                                  {"type none ignores the factor", "none", "llama.rope.scaling.factor", 4, 1},
                                  {"type none without a factor", "none", "", 0, 1},
                                  {"a factor without a type", "", "llama.rope.scaling.factor", 8, 8},
                                  {"the older key scale_linear", "", "llama.rope.scale_linear", 2, 2},
                                  {"a factor of 0 means none", "", "llama.rope.scale_linear", 0, 1},
                                  {"no key means none", "", "", 0, 1}};
    for (const spelling &s : spellings) {
        gguf_by_spec written = write_model({});
        if (*s.type)
            written.text("llama.rope.scaling.type", s.type);
        if (*s.key)
            written.f32(s.key, s.factor);
        const temporary_file file(written.bytes());
        const model_file model(file.path);
        t.check(model.shape().rope_scale == s.wanted, std::string("RoPE scaling: ") + s.name,
                std::to_string(model.shape().rope_scale));
    }
}

using change = std::function<void(gguf_by_spec &)>;

gguf_by_spec::tensor &named(gguf_by_spec &file, const std::string &name)
{
    for (gguf_by_spec::tensor &tensor : file.tensors)
        if (tensor.name == name)
            return tensor;
    std::abort();
}

void rename_key(gguf_by_spec &file, const std::string &from, const std::string &to)
{
    file.metadata.replace(file.metadata.find(from), from.size(), to);
}

void refused(tap &t, const std::string &name, const std::vector<std::string> &parts, const change &make)
{
    gguf_by_spec file = write_model({});
    make(file);
    const std::string problem = open_problem(file.bytes());
    bool named_all = problem.find('\n') == std::string::npos && !problem.empty();
    for (const std::string &part : parts)
        named_all = named_all && problem.find(part) != std::string::npos;
    t.check(named_all, "refused: " + name, problem.empty() ? "it was accepted" : problem);
}

void test_metadata(tap &t)
{
    refused(t, "another architecture", {"\"lLama\"", "only llama"}, [](gguf_by_spec &f) {
        rename_key(f, "\x05" + std::string(7, '\0') + "llama", "\x05" + std::string(7, '\0') + "lLama");
    });
    refused(t, "a missing layer count", {"llama.block_count"},
            [](gguf_by_spec &f) { rename_key(f, "block_count", "block_Count"); });
    refused(t, "heads that are no multiple of the KV heads", {"2 heads", "3 KV heads"}, [](gguf_by_spec &f) {
        rename_key(f, "head_count_kv", "head_count_vk");
        f.u32("llama.attention.head_count_kv", 3);
    });
    refused(t, "a string for a number", {"context_length", "string", "offset"}, [](gguf_by_spec &f) {
        rename_key(f, "llama.context_length", "llama.context_lengtH");
        f.text("llama.context_length", "512");
    });
    refused(t, "RoPE scaling yarn", {"\"yarn\"", "linear"},
            [](gguf_by_spec &f) { f.text("llama.rope.scaling.type", "yarn"); });
    refused(t, "a mixture of experts", {"experts"}, [](gguf_by_spec &f) { f.u32("llama.expert_count", 8); });
    refused(t, "a duplicate key", {"duplicate key llama.vocab_size"}, [](gguf_by_spec &f) {
        f.u32("llama.vocab_size", 300);
        f.u32("llama.vocab_size", 300);
    });
    refused(t, "a vocabulary of another size", {"vocab_size is 301", "300 rows"},
            [](gguf_by_spec &f) { f.u32("llama.vocab_size", 301); });
    refused(t, "a value of a type that the specification lacks", {"offset ", "unknown type 13 (0 to 12"},
            [](gguf_by_spec &f) { f.raw("x", 13, "abc"); });
    refused(t, "an array of a type that the specification lacks",
            {"offset ", "an array of the unknown type 77"},
            [](gguf_by_spec &f) { f.raw("x", gguf_by_spec::ARRAY, array_of(77, 1, "abc")); });
    refused(t, "more layers than tensors", {"block_count is 1000"}, [](gguf_by_spec &f) {
        rename_key(f, "llama.block_count", "llama.block_counT");
        f.u32("llama.block_count", 1000);
    });
}

void test_tensors(tap &t)
{
    const std::string wk = "blk.1.attn_k.weight";
    refused(t, "a missing tensor", {wk, "incomplete"},
            [&](gguf_by_spec &f) { named(f, wk).name = "blk.1.attn_K.weight"; });
    refused(t, "a transposed tensor", {wk, "offset", "64 x 128", "128 x 64"}, [&](gguf_by_spec &f) {
        named(f, wk).ne = {64, 128};
    });
    refused(t, "a tensor of three dimensions", {wk, "128 x 64 x 2"}, [&](gguf_by_spec &f) {
        named(f, wk).ne = {128, 64, 2};
    });
    refused(t, "quantisation Q4_K", {wk, "Q4_K", "convert"},
            [&](gguf_by_spec &f) { named(f, wk).type = 12; });
    refused(t, "an unknown tensor type", {wk, "number 99"}, [&](gguf_by_spec &f) { named(f, wk).type = 99; });
    refused(t, "a misaligned tensor", {wk, "aligned"},
            [&](gguf_by_spec &f) { named(f, wk).misplaced_by = 4; });
    refused(t, "overlapping tensors", {wk, "overlaps"},
            [&](gguf_by_spec &f) { named(f, wk).misplaced_by = -32; });
    refused(t, "a tensor after the end", {wk, "after the end"},
            [&](gguf_by_spec &f) { named(f, wk).misplaced_by = 1 << 20; });
    refused(t, "an offset that wraps around", {wk, "after the end"},
            [&](gguf_by_spec &f) { named(f, wk).misplaced_by = INT64_MIN; });
    refused(t, "a bias", {"blk.0.attn_q.bias", "not supported"}, [](gguf_by_spec &f) {
        f.tensors.push_back({"blk.0.attn_q.bias", {128}, 0, std::string(512, '\0')});
    });
    refused(t, "a duplicate tensor", {"duplicate tensor " + wk},
            [&](gguf_by_spec &f) { f.tensors.push_back(named(f, wk)); });
    refused(t, "a name with control characters", {"\\x1b[2J"}, [](gguf_by_spec &f) {
        f.tensors.push_back({"\x1b[2J", {128}, 0, std::string(512, '\0')});
    });
    refused(t, "sizes that overflow", {"token_embd.weight", "63 bits"}, [](gguf_by_spec &f) {
        named(f, "token_embd.weight").ne = {1ull << 40, 1ull << 40};
    });
    refused(t, "quantised rows of a partial block", {"ffn_down.weight", "block size"}, [](gguf_by_spec &f) {
        spec_model m;
        m.ffn = 100;
        m.types = {0};
        f = write_model(m);
        named(f, "blk.0.ffn_down.weight").type = 8;
    });
}

void test_truncation(tap &t)
{
    const std::string whole = write_model({}).bytes();
    size_t accepted = 0, unnamed = 0;
    for (size_t length = 0; length < whole.size(); length += length < 12000 ? 97 : 4999) {
        const std::string problem = open_problem(whole.substr(0, length));
        accepted += problem.empty();
        unnamed += problem.find("kernsweep-test-") == std::string::npos ||
                   problem.find("offset ") == std::string::npos;
    }
    t.check(accepted == 0, "no truncated file opens");
    t.check(unnamed == 0, "every truncated file is refused with its name and an offset");
    const std::string problem = open_problem(whole.substr(0, whole.size() - 1));
    t.check(problem.find("token_embd.weight") != std::string::npos &&
                problem.find("truncated") != std::string::npos,
            "a file that lacks one byte is refused as truncated", problem);
    try {
        const model_file model("/nonexistent/model.gguf");
        t.check(false, "a missing file is refused by name", "no error");
    } catch (const failure &f) {
        t.check(f.code == EXIT_BAD_INPUT && f.message.find("/nonexistent/model.gguf") == 0,
                "a missing file is refused by name", f.message);
    }
}

void test_all(tap &t)
{
    test_shapes(t);
    test_variety(t);
    test_unknown_keys(t);
    test_rope_scaling(t);
    test_metadata(t);
    test_tensors(t);
    test_truncation(t);
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("model files", test_all, argc, argv);
}
