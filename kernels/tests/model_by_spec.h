// A small model of the llama family as a GGUF file, for tests: grouped heads, every supported encoding, a
// byte vocabulary, and weights from a simple generator.
#pragma once

#include "tests/vocabulary_by_spec.h"

struct spec_model {
    uint32_t layers = 2, width = 128, heads = 2, kv_heads = 1, head_dim = 64, ffn = 96, vocab = 300;
    float rope_base = 10000, rope_scale = 1;
    bool tied = false;
    std::vector<uint32_t> types = {0, 1, 30, 8, 2}; // ggml's types, cycled over the matrices
    uint32_t version = 3, alignment = 32;
};

class spec_weights
{
  public:
    // rows x cols encoded numbers of magnitude `scale`.
    std::string matrix(uint32_t type, uint64_t rows, uint64_t cols, float scale)
    {
        std::string data;
        const uint64_t block = type == 8 || type == 2 ? 32 : 1;
        for (uint64_t i = 0; i < rows * cols / block; i++)
            data += element(type, scale);
        return data;
    }
    std::string norm(uint64_t cols)
    {
        std::string data;
        for (uint64_t i = 0; i < cols; i++)
            data += gguf_by_spec::number(1 + uniform() / 4);
        return data;
    }

  private:
    uint32_t bits()
    {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>(state_ >> 32);
    }
    float uniform() // -1 .. 1
    {
        return static_cast<float>(static_cast<int32_t>(bits())) / 2147483648.0f;
    }
    // One number, or one block of 32.
    std::string element(uint32_t type, float scale)
    {
        const float x = uniform() * scale;
        uint32_t f32;
        std::memcpy(&f32, &x, sizeof f32);
        if (type == 0)
            return gguf_by_spec::number(x);
        if (type == 30)
            return gguf_by_spec::number(static_cast<uint16_t>(f32 >> 16));
        if (type == 1)
            return gguf_by_spec::number(
                f16(scale * (bits() & 1 ? 1.0f : -1.0f), static_cast<uint16_t>(bits())));
        std::string block = gguf_by_spec::number(f16(scale / (type == 8 ? 128.0f : 8.0f), 0));
        for (int i = 0; i < (type == 8 ? 32 : 16); i++)
            block += static_cast<char>(bits() >> 8);
        return block;
    }
    // x's sign and exponent with the given mantissa, which avoids rounding.
    static uint16_t f16(float x, uint16_t mantissa)
    {
        uint32_t f32;
        std::memcpy(&f32, &x, sizeof f32);
        const uint32_t exponent = (f32 >> 23 & 0xffu) - 127 + 15;
        return static_cast<uint16_t>((f32 >> 16 & 0x8000u) | exponent << 10 | (mantissa & 0x3ffu));
    }
    uint64_t state_ = 42;
};

// Of the byte tokens, and of unused ones behind them.
inline void add_byte_vocabulary(gguf_by_spec &file, uint32_t size)
{
    vocabulary_by_spec v = llama_base();
    while (v.tokens.size() < size)
        v.add("<unused_" + std::to_string(v.tokens.size()) + ">", 0, 5);
    add_llama(file, v);
}

inline void add_numbers(gguf_by_spec &file, const spec_model &m)
{
    file.text("general.architecture", "llama");
    file.u32("llama.block_count", m.layers);
    file.u32("llama.context_length", 512);
    file.u32("llama.embedding_length", m.width);
    file.u32("llama.feed_forward_length", m.ffn);
    file.u32("llama.attention.head_count", m.heads);
    file.u32("llama.attention.head_count_kv", m.kv_heads);
    file.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    file.f32("llama.rope.freq_base", m.rope_base);
    if (m.width != m.heads * m.head_dim) {
        file.u32("llama.attention.key_length", m.head_dim);
        file.u32("llama.attention.value_length", m.head_dim);
    }
    if (m.rope_scale != 1) {
        file.text("llama.rope.scaling.type", "linear");
        file.f32("llama.rope.scaling.factor", m.rope_scale);
    }
}

inline gguf_by_spec write_model(const spec_model &m)
{
    gguf_by_spec file(m.version, m.alignment);
    spec_weights weights;
    size_t turn = 0;
    const auto matrix = [&](const std::string &name, uint64_t rows, uint64_t cols, float scale) {
        const uint32_t type = m.types[turn++ % m.types.size()];
        file.tensors.push_back({name, {cols, rows}, type, weights.matrix(type, rows, cols, scale)});
    };
    const auto norm = [&](const std::string &name) {
        file.tensors.push_back({name, {m.width}, 0, weights.norm(m.width)});
    };
    add_numbers(file, m);
    add_byte_vocabulary(file, m.vocab);
    const uint64_t queries = m.heads * m.head_dim, keys = m.kv_heads * m.head_dim;
    norm("output_norm.weight");
    if (!m.tied)
        matrix("output.weight", m.vocab, m.width, 0.5f);
    for (uint32_t layer = m.layers; layer-- > 0;) { // the format guarantees no order
        const std::string blk = "blk." + std::to_string(layer) + ".";
        norm(blk + "ffn_norm.weight");
        matrix(blk + "ffn_down.weight", m.width, m.ffn, 0.125f);
        matrix(blk + "ffn_gate.weight", m.ffn, m.width, 0.125f);
        matrix(blk + "ffn_up.weight", m.ffn, m.width, 0.125f);
        norm(blk + "attn_norm.weight");
        matrix(blk + "attn_q.weight", queries, m.width, 0.25f);
        matrix(blk + "attn_k.weight", keys, m.width, 0.25f);
        matrix(blk + "attn_v.weight", keys, m.width, 0.125f);
        matrix(blk + "attn_output.weight", m.width, queries, 0.125f);
    }
    matrix("token_embd.weight", m.vocab, m.width, 1.0f);
    return file;
}
