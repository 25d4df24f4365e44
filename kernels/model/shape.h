// The shape of a model of the llama family, and the tensors that follow from it. The reader, the writer and
// the synthetic weights share one table of tensors (names, roles, shapes).
#pragma once

#include "model/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

struct model_shape {
    uint32_t layers, width, heads, kv_heads, head_dim, ffn, vocab;
    uint32_t context_length; // tokens
    uint32_t rope_dims;      // rotated dimensions of a head, counted from the first; pairs are (2i, 2i + 1)
    float rms_eps, rope_base;
    float rope_scale; // positions are divided by it; 1: no scaling
    bool tied_output; // the embedding is also the output matrix
};

// The weights of one layer. Head h of Q reads KV head h / (heads / kv_heads).
struct layer_tensors {
    tensor_view attn_norm, wq, wk, wv, wo, ffn_norm, gate, up, down;
};

struct model_tensors {
    tensor_view embedding, output_norm, output; // output: the embedding if tied
    std::vector<layer_tensors> layers;
};

enum tensor_role {
    ROLE_EMBEDDING,
    ROLE_OUTPUT_NORM,
    ROLE_OUTPUT,
    ROLE_ATTN_NORM, // from here on: per layer
    ROLE_WQ,
    ROLE_WK,
    ROLE_WV,
    ROLE_WO,
    ROLE_FFN_NORM,
    ROLE_GATE,
    ROLE_UP,
    ROLE_DOWN,
};

struct tensor_spec {
    tensor_role role;
    uint32_t layer; // 0 for roles that are not per layer
    uint64_t rows, cols;
};

// Every tensor of a model of this shape, in the order in which make-model writes them.
std::vector<tensor_spec> tensor_specs(const model_shape &shape);

std::string tensor_name(const tensor_spec &spec); // as in a GGUF file: "blk.0.attn_q.weight"
bool role_is_norm(tensor_role role);              // a vector of factors, always F32 in a file

// The member of `tensors` for a tensor. tensors.layers must have been resized.
tensor_view &tensor_at(model_tensors &tensors, const tensor_spec &spec);

// "" if the forward pass supports it, else what is wrong.
std::string shape_problem(const model_shape &shape);

// The preset called `name`: tiny, small or llama2-7b. False when there is none.
bool preset_shape(const char *name, model_shape *shape);
