// A llama vocabulary of bytes, in the terms of the GGUF specification.
#pragma once

#include "tests/gguf_by_spec.h"

struct vocabulary_by_spec {
    std::vector<std::string> tokens;
    std::vector<float> scores;
    std::vector<int32_t> types;

    uint32_t add(const std::string &token, float score = 0, int32_t type = 1)
    {
        tokens.push_back(token);
        scores.push_back(score);
        types.push_back(type);
        return static_cast<uint32_t>(tokens.size() - 1);
    }
};

// 0 <unk>, 1 <s>, 2 </s>, 3..258 the bytes, then from 259 on what the caller adds.
inline vocabulary_by_spec llama_base()
{
    vocabulary_by_spec v;
    v.add("<unk>", 0, 2);
    v.add("<s>", 0, 3);
    v.add("</s>", 0, 3);
    for (int byte = 0; byte < 256; byte++) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
        v.add(name, 0, 6);
    }
    return v;
}

inline void add_llama(gguf_by_spec &file, const vocabulary_by_spec &v)
{
    file.text("tokenizer.ggml.model", "llama");
    file.strings("tokenizer.ggml.tokens", v.tokens);
    file.numbers("tokenizer.ggml.scores", gguf_by_spec::F32, v.scores);
    file.numbers("tokenizer.ggml.token_type", gguf_by_spec::I32, v.types);
    file.u32("tokenizer.ggml.bos_token_id", 1);
    file.u32("tokenizer.ggml.eos_token_id", 2);
}
