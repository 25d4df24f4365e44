// The command line of `prefill` with a model: --model or --synthetic. Throws bad input.
#pragma once

#include "runner/options.h"

struct model_options {
    std::string model, synthetic; // exactly one is set: a file, or the name of a preset
    std::string prompt, prompt_file, attn, logits;
    bool has_prompt = false;
    int context = 0; // tokens of a generated prompt; 0: the prompt is a text
    int max_tokens = 1;
    int chunk = 0; // 0: forward::best_chunk()
    attn_dtype dtype = ATTN_F32;
    uint64_t seed = 1;
    bool json = false, deterministic = false, ceiling = false;
};

extern const char model_usage[];

// Whether the arguments select a model.
bool asks_for_model(int argc, char **argv);

model_options parse_model_options(int argc, char **argv);
