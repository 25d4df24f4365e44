#include "model/model_file.h"

#include <algorithm>
#include <set>

namespace
{
constexpr uint64_t any_number = UINT32_MAX;

struct known_type {
    uint32_t number; // ggml's
    const char *name;
};

// ggml's numbers of the supported types, in the order of tensor_type.
constexpr uint32_t readable[tensor_type_count] = {0, 1, 30, 8, 2};
// Common unsupported types, to name them in the message.
const known_type others[] = {{3, "Q4_1"},     {6, "Q5_0"},    {7, "Q5_1"},    {9, "Q8_1"},   {10, "Q2_K"},
                             {11, "Q3_K"},    {12, "Q4_K"},   {13, "Q5_K"},   {14, "Q6_K"},  {15, "Q8_K"},
                             {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {20, "IQ4_NL"}, {23, "IQ4_XS"}};

std::string type_problem(uint32_t number)
{
    std::string name = "number " + std::to_string(number);
    for (const known_type &type : others)
        if (type.number == number)
            name = type.name;
    return "unsupported quantisation " + name + ": convert the model to F32, F16, BF16, Q8_0 or Q4_0";
}

std::string shape_text(const uint64_t *ne, uint32_t dims)
{
    std::string text;
    for (uint32_t i = 0; i < dims; i++)
        text += (i ? " x " : "") + std::to_string(ne[i]);
    return text;
}

std::string where(const std::string &name, const gguf_file::tensor &t)
{
    return "offset " + std::to_string(t.listed_at) + ": tensor " + name + ": ";
}

// The tensor's size in bytes; 0 if its type is not supported.
uint64_t tensor_bytes(const gguf_file::tensor &t)
{
    const auto *type = std::find(readable, readable + tensor_type_count, t.type);
    if (type == readable + tensor_type_count)
        return 0;
    // The product of the dimensions fits 63 bits, and no type takes more than 4 bytes per element.
    const uint64_t rows = t.ne[1] * t.ne[2] * t.ne[3];
    const uint64_t row = tensor_row_bytes(static_cast<tensor_type>(type - readable), t.ne[0]);
    uint64_t bytes;
    return __builtin_mul_overflow(rows, row, &bytes) ? UINT64_MAX : bytes;
}
} // namespace

model_file::model_file(const std::string &path) : file_(path)
{
    read_shape();
    read_rope();
    const std::string problem = shape_problem(shape_);
    if (!problem.empty())
        file_.refuse(problem);
    read_tensors();
    refuse_unknown();
    refuse_overlaps();
}

void model_file::read_shape()
{
    const std::string architecture = file_.text("general.architecture");
    if (architecture != "llama")
        file_.refuse("unsupported architecture \"" + architecture + "\": only llama is supported");
    const auto number = [this](const char *key) {
        return static_cast<uint32_t>(file_.number(std::string("llama.") + key, 1, any_number));
    };
    const auto number_or = [&](const char *key, uint32_t otherwise) {
        return file_.has(std::string("llama.") + key) ? number(key) : otherwise;
    };
    if (file_.has("llama.expert_count") && file_.number("llama.expert_count", 0, any_number) > 0)
        file_.refuse("mixture of experts (llama.expert_count) is not supported");
    shape_.layers = number("block_count");
    shape_.width = number("embedding_length");
    shape_.ffn = number("feed_forward_length");
    shape_.context_length = number("context_length");
    shape_.heads = number("attention.head_count");
    shape_.kv_heads = number_or("attention.head_count_kv", shape_.heads);
    shape_.head_dim = number_or("attention.key_length", shape_.width / shape_.heads);
    if (number_or("attention.value_length", shape_.head_dim) != shape_.head_dim)
        file_.refuse("llama.attention.value_length differs from key_length, which is not supported");
    if (!file_.has("llama.attention.key_length") && shape_.width % shape_.heads != 0)
        file_.refuse("an embedding of " + std::to_string(shape_.width) + " cannot be cut into " +
                     std::to_string(shape_.heads) + " heads");
    shape_.rms_eps = static_cast<float>(file_.real("llama.attention.layer_norm_rms_epsilon"));
    const auto embedding = file_.tensors().find("token_embd.weight");
    if (embedding == file_.tensors().end())
        file_.refuse("no tensor token_embd.weight: is this a part of a split model?");
    shape_.vocab = static_cast<uint32_t>(std::min<uint64_t>(embedding->second.ne[1], any_number));
    if (number_or("vocab_size", shape_.vocab) != shape_.vocab)
        file_.refuse("llama.vocab_size is " + std::to_string(number("vocab_size")) +
                     ", but token_embd.weight has " + std::to_string(shape_.vocab) + " rows");
    shape_.tied_output = file_.tensors().count("output.weight") == 0;
}

void model_file::read_rope()
{
    const std::string prefix = "llama.rope.";
    const auto real_or = [&](const std::string &key, double otherwise) {
        return static_cast<float>(file_.has(prefix + key) ? file_.real(prefix + key) : otherwise);
    };
    shape_.rope_dims = file_.has(prefix + "dimension_count")
                           ? static_cast<uint32_t>(file_.number(prefix + "dimension_count", 1, any_number))
                           : shape_.head_dim;
    shape_.rope_base = real_or("freq_base", 10000);
    const std::string scaling = file_.has(prefix + "scaling.type") ? file_.text(prefix + "scaling.type") : "";
    if (scaling.empty()) // files that predate scaling.type
        shape_.rope_scale = real_or("scaling.factor", real_or("scale_linear", 1));
    else if (scaling == "none")
        shape_.rope_scale = 1;
    else if (scaling == "linear")
        shape_.rope_scale = static_cast<float>(file_.real(prefix + "scaling.factor"));
    else
        file_.refuse("unsupported RoPE scaling \"" + scaling +
                     "\" (llama.rope.scaling.type): only none and linear are supported");
    if (shape_.rope_scale == 0) // written by converters for "none"
        shape_.rope_scale = 1;
}

void model_file::read_tensors()
{
    if (shape_.layers > file_.tensors().size())
        file_.refuse("llama.block_count is " + std::to_string(shape_.layers) + ", but there are " +
                     std::to_string(file_.tensors().size()) + " tensors");
    tensors_.layers.resize(shape_.layers);
    for (const tensor_spec &spec : tensor_specs(shape_))
        tensor_at(tensors_, spec) = view(spec);
    if (shape_.tied_output)
        tensors_.output = tensors_.embedding;
}

tensor_view model_file::view(const tensor_spec &spec) const
{
    const std::string name = tensor_name(spec);
    const auto found = file_.tensors().find(name);
    if (found == file_.tensors().end())
        file_.refuse("tensor " + name + " is missing: the model is incomplete");
    const gguf_file::tensor &t = found->second;
    if (t.ne[0] != spec.cols || t.ne[1] != spec.rows || t.ne[2] != 1 || t.ne[3] != 1)
        file_.refuse(where(name, t) + "its shape is " + shape_text(t.ne, t.n_dims) +
                     ", but the model's shape requires " + std::to_string(spec.cols) + " x " +
                     std::to_string(spec.rows));
    const auto *type = std::find(readable, readable + tensor_type_count, t.type);
    if (type == readable + tensor_type_count)
        file_.refuse(where(name, t) + type_problem(t.type));
    const auto encoding = static_cast<tensor_type>(type - readable);
    if (tensor_is_quantised(encoding) && spec.cols % quant_block != 0)
        file_.refuse(where(name, t) + "rows of " + std::to_string(spec.cols) +
                     " elements are not a multiple of the block size of " + tensor_type_name(encoding));
    const uint64_t bytes = tensor_bytes(t);
    if (bytes > file_.size() - t.offset)
        file_.refuse(where(name, t) + "its " + std::to_string(bytes) + " bytes from offset " +
                     std::to_string(t.offset) + " end after the file's " + std::to_string(file_.size()) +
                     ": truncated, get it again");
    return {file_.data() + t.offset, encoding, spec.rows, spec.cols};
}

// Biases, experts, frequency factors: ignoring them would silently change the model.
void model_file::refuse_unknown() const
{
    std::set<std::string> wanted;
    for (const tensor_spec &spec : tensor_specs(shape_))
        wanted.insert(tensor_name(spec));
    for (const auto &[name, t] : file_.tensors())
        if (!wanted.count(name))
            file_.refuse(where(name, t) +
                         "not supported, and the model would give different results without it");
}

void model_file::refuse_overlaps() const
{
    std::vector<std::pair<uint64_t, const std::pair<const std::string, gguf_file::tensor> *>> places;
    for (const auto &item : file_.tensors())
        places.emplace_back(item.second.offset, &item);
    std::sort(places.begin(), places.end());
    for (size_t i = 1; i < places.size(); i++) {
        const auto &[name, t] = *places[i - 1].second;
        const auto &[next_name, next] = *places[i].second;
        if (tensor_bytes(t) > next.offset - t.offset)
            file_.refuse(where(next_name, next) + "its data, from offset " + std::to_string(next.offset) +
                         ", overlaps that of " + name);
    }
}
