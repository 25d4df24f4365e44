#include "model/shape.h"

#include <cmath>
#include <cstring>

namespace
{
struct preset {
    const char *name;
    model_shape shape;
};

// tiny is small enough for tests on the CPU device. Heads have 64 or 128 dimensions, as the variants require.
const preset presets[] = {
    {"tiny", {2, 256, 4, 2, 64, 704, 1024, 8192, 64, 1e-5f, 10000.0f, 1.0f, false}},
    {"small", {8, 1024, 16, 4, 64, 2816, 4096, 32768, 64, 1e-5f, 10000.0f, 1.0f, false}},
    {"llama2-7b", {32, 4096, 32, 32, 128, 11008, 32000, 32768, 128, 1e-5f, 10000.0f, 1.0f, false}},
};

const char *role_name(tensor_role role)
{
    switch (role) {
    case ROLE_EMBEDDING:
        return "token_embd";
    case ROLE_OUTPUT_NORM:
        return "output_norm";
    case ROLE_OUTPUT:
        return "output";
    case ROLE_ATTN_NORM:
        return "attn_norm";
    case ROLE_WQ:
        return "attn_q";
    case ROLE_WK:
        return "attn_k";
    case ROLE_WV:
        return "attn_v";
    case ROLE_WO:
        return "attn_output";
    case ROLE_FFN_NORM:
        return "ffn_norm";
    case ROLE_GATE:
        return "ffn_gate";
    case ROLE_UP:
        return "ffn_up";
    case ROLE_DOWN:
        return "ffn_down";
    }
    return "?";
}

void add_layer(std::vector<tensor_spec> &specs, const model_shape &s, uint32_t layer)
{
    const uint64_t queries = static_cast<uint64_t>(s.heads) * s.head_dim;
    const uint64_t keys = static_cast<uint64_t>(s.kv_heads) * s.head_dim;
    specs.push_back({ROLE_ATTN_NORM, layer, 1, s.width});
    specs.push_back({ROLE_WQ, layer, queries, s.width});
    specs.push_back({ROLE_WK, layer, keys, s.width});
    specs.push_back({ROLE_WV, layer, keys, s.width});
    specs.push_back({ROLE_WO, layer, s.width, queries});
    specs.push_back({ROLE_FFN_NORM, layer, 1, s.width});
    specs.push_back({ROLE_GATE, layer, s.ffn, s.width});
    specs.push_back({ROLE_UP, layer, s.ffn, s.width});
    specs.push_back({ROLE_DOWN, layer, s.width, s.ffn});
}

bool positive(float x)
{
    return std::isfinite(x) && x > 0;
}

struct limit {
    const char *what;
    uint32_t value, most;
};
} // namespace

std::vector<tensor_spec> tensor_specs(const model_shape &shape)
{
    std::vector<tensor_spec> specs;
    specs.push_back({ROLE_EMBEDDING, 0, shape.vocab, shape.width});
    for (uint32_t layer = 0; layer < shape.layers; layer++)
        add_layer(specs, shape, layer);
    specs.push_back({ROLE_OUTPUT_NORM, 0, 1, shape.width});
    if (!shape.tied_output)
        specs.push_back({ROLE_OUTPUT, 0, shape.vocab, shape.width});
    return specs;
}

std::string tensor_name(const tensor_spec &spec)
{
    const std::string prefix = spec.role >= ROLE_ATTN_NORM ? "blk." + std::to_string(spec.layer) + "." : "";
    return prefix + role_name(spec.role) + ".weight";
}

bool role_is_norm(tensor_role role)
{
    return role == ROLE_OUTPUT_NORM || role == ROLE_ATTN_NORM || role == ROLE_FFN_NORM;
}

tensor_view &tensor_at(model_tensors &tensors, const tensor_spec &spec)
{
    if (spec.role == ROLE_EMBEDDING)
        return tensors.embedding;
    if (spec.role == ROLE_OUTPUT_NORM)
        return tensors.output_norm;
    if (spec.role == ROLE_OUTPUT)
        return tensors.output;
    layer_tensors &layer = tensors.layers[spec.layer];
    tensor_view *const of_layer[] = {&layer.attn_norm, &layer.wq,   &layer.wk, &layer.wv,  &layer.wo,
                                     &layer.ffn_norm,  &layer.gate, &layer.up, &layer.down};
    return *of_layer[spec.role - ROLE_ATTN_NORM];
}

std::string shape_problem(const model_shape &s)
{
    const limit limits[] = {{"layers", s.layers, 1024},
                            {"width", s.width, 1 << 17},
                            {"heads", s.heads, 4096},
                            {"KV heads", s.kv_heads, 4096},
                            {"head dimensions", s.head_dim, 4096},
                            {"FFN width", s.ffn, 1 << 20},
                            {"vocabulary", s.vocab, 1 << 22},
                            {"context length", s.context_length, 1 << 24},
                            {"rotated dimensions", s.rope_dims, 4096}};
    for (const limit &l : limits)
        if (l.value == 0 || l.value > l.most)
            return std::string(l.what) + " " + std::to_string(l.value) + " is not in 1.." +
                   std::to_string(l.most);
    if (s.heads % s.kv_heads != 0)
        return std::to_string(s.heads) + " heads cannot share " + std::to_string(s.kv_heads) + " KV heads";
    if (s.rope_dims > s.head_dim || s.rope_dims % 2 != 0)
        return std::to_string(s.rope_dims) + " rotated dimensions of a head of " +
               std::to_string(s.head_dim) + " (must be even, and no more)";
    if (!positive(s.rms_eps) || !positive(s.rope_base) || !positive(s.rope_scale))
        return "RMS epsilon, RoPE base and RoPE scale must be positive and finite";
    return "";
}

bool preset_shape(const char *name, model_shape *shape)
{
    for (const preset &p : presets)
        if (std::strcmp(name, p.name) == 0) {
            *shape = p.shape;
            return true;
        }
    return false;
}
