#include "model/make_model.h"
#include "model/gguf_writer.h"
#include "model/seeded.h"

namespace
{
constexpr uint64_t chunk_bytes = 4 << 20;

// llama.cpp's general.file_type: the type of most tensors in the file.
uint32_t file_type(tensor_type type)
{
    switch (type) {
    case TENSOR_F32:
        return 0;
    case TENSOR_F16:
        return 1;
    case TENSOR_BF16:
        return 32;
    case TENSOR_Q8_0:
        return 7;
    case TENSOR_Q4_0:
        return 2;
    }
    return 0;
}

tensor_type type_of(const made_model &model, const tensor_spec &spec)
{
    return role_is_norm(spec.role) ? TENSOR_F32 : model.type;
}

void add_numbers(gguf_writer &file, const made_model &model)
{
    const model_shape &s = model.shape;
    file.add_text("general.architecture", "llama");
    file.add_text("general.name", model.name + ", random weights of seed " + std::to_string(model.seed));
    file.add_number("general.file_type", file_type(model.type));
    file.add_number("general.quantization_version", 2);
    file.add_number("llama.block_count", s.layers);
    file.add_number("llama.context_length", s.context_length);
    file.add_number("llama.embedding_length", s.width);
    file.add_number("llama.feed_forward_length", s.ffn);
    file.add_number("llama.attention.head_count", s.heads);
    file.add_number("llama.attention.head_count_kv", s.kv_heads);
    file.add_number("llama.attention.key_length", s.head_dim);
    file.add_number("llama.attention.value_length", s.head_dim);
    file.add_real("llama.attention.layer_norm_rms_epsilon", s.rms_eps);
    file.add_number("llama.vocab_size", s.vocab);
    file.add_number("llama.rope.dimension_count", s.rope_dims);
    file.add_real("llama.rope.freq_base", s.rope_base);
}

void write_weights(gguf_writer &file, const made_model &model, const tensor_spec &spec)
{
    const seeded_tensor weights = seeded_weights(spec, model.shape, model.seed);
    const tensor_type type = type_of(model, spec);
    const uint64_t row_bytes = tensor_row_bytes(type, spec.cols), rows_at_once = 1 + chunk_bytes / row_bytes;
    std::vector<float> row(spec.cols);
    std::vector<unsigned char> chunk;
    chunk.reserve(rows_at_once * row_bytes);
    file.begin_tensor();
    for (uint64_t r = 0; r < spec.rows; r++) {
        for (uint64_t c = 0; c < spec.cols; c++)
            row[c] = seeded_value(weights, r * spec.cols + c);
        chunk.resize(chunk.size() + row_bytes);
        tensor_row_of_f32(type, row.data(), spec.cols, chunk.data() + chunk.size() - row_bytes);
        if (chunk.size() >= chunk_bytes || r + 1 == spec.rows) {
            file.write(chunk.data(), chunk.size());
            chunk.clear();
        }
    }
}
} // namespace

void make_model(const made_model &model, const std::string &path)
{
    gguf_writer file(path);
    const std::vector<tensor_spec> specs = tensor_specs(model.shape);
    add_numbers(file, model);
    add_vocabulary(file, model.vocabulary, model.shape.vocab);
    for (const tensor_spec &spec : specs)
        file.add_tensor(tensor_name(spec), type_of(model, spec), spec.rows, spec.cols);
    file.write_tables();
    for (const tensor_spec &spec : specs)
        write_weights(file, model, spec);
    file.finish();
}
