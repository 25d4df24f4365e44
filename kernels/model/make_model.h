// Makes a model: a GGUF file with seeded random weights and a small vocabulary, so that nothing need be
// downloaded.
#pragma once

#include "model/shape.h"
#include "model/vocabulary.h"

struct made_model {
    std::string name; // of the preset, for the file's title
    model_shape shape;
    uint64_t seed;
    tensor_type type; // of the matrices
    vocabulary_kind vocabulary;
};

// Thrown as struct failure when it cannot be written; then nothing is left behind.
void make_model(const made_model &model, const std::string &path);
