// Generates a model: a GGUF file with seeded random weights and a small vocabulary, so that no download is
// needed.
#pragma once

#include "model/shape.h"
#include "model/vocabulary.h"

struct made_model {
    std::string name; // of the preset, for general.name
    model_shape shape;
    uint64_t seed;
    tensor_type type; // of the matrices
    vocabulary_kind vocabulary;
};

// Throws struct failure when it cannot be written, and then leaves no file behind.
void make_model(const made_model &model, const std::string &path);
