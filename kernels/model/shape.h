// What a model of the llama family is made of: its numbers, and the tensors that follow from them.
// One table of tensors (names, roles, shapes) for the reader, the writer and the synthetic weights.
#pragma once

#include "model/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

struct model_shape {
    uint32_t layers, width, heads, kv_heads, head_dim, ffn, vocab;
    uint32_t context_length; // tokens the model was made for
    uint32_t rope_dims;      // rotated dimensions of a head, from the first; pairs are (2i, 2i + 1)
    float rms_eps, rope_base;
    float rope_scale; // positions are divided by it; 1 is none
    bool tied_output; // the embedding is the output matrix too
};

// The weights of one layer. Head h of Q reads KV head h / (heads / kv_heads).
struct layer_tensors {
    tensor_view attn_norm, wq, wk, wv, wo, ffn_norm, gate, up, down;
};

struct model_tensors {
    tensor_view embedding, output_norm, output; // output is the embedding where it is tied
    std::vector<layer_tensors> layers;
};

enum tensor_role {
    ROLE_EMBEDDING,
    ROLE_OUTPUT_NORM,
    ROLE_OUTPUT,
    ROLE_ATTN_NORM, // from here on: of a layer
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
    uint32_t layer; // 0 where the role is none of a layer's
    uint64_t rows, cols;
};

// Every tensor that a model of this shape has, in the order of a file that make-model writes.
std::vector<tensor_spec> tensor_specs(const model_shape &shape);

std::string tensor_name(const tensor_spec &spec); // as in a GGUF file: "blk.0.attn_q.weight"
bool role_is_norm(tensor_role role);              // a vector of factors, always F32 in a file

// The place of a tensor in `tensors`, whose layers are there.
tensor_view &tensor_at(model_tensors &tensors, const tensor_spec &spec);

// "" when a forward pass can take it, else what is wrong with it.
std::string shape_problem(const model_shape &shape);

// The shape called `name`: tiny, small or llama2-7b. False when there is none.
bool preset_shape(const char *name, model_shape *shape);
