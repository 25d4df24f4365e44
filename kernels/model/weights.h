// A model's weights on the device: matrices of one type, norm factors in fp32. Matrices that share a GEMM are
// contiguous: Q, K and V; gate and up. Owns the memory; knows nothing of file headers.
#pragma once

#include "attention/attention.h"
#include "base/device_memory.h"
#include "model/shape.h"

#include <vector>

struct layer_weights {
    const float *attn_norm, *ffn_norm;
    const void *qkv, *wo, *gate_up, *down;
};

class model_weights
{
  public:
    model_weights(const model_shape &shape, attn_dtype type);

    // Loads a file's tensors, decoded and rounded once to the type.
    void load(const model_tensors &tensors);
    // Generates in place the numbers that make-model writes for this seed.
    void make(uint64_t seed);

    const model_shape &shape() const
    {
        return shape_;
    }
    attn_dtype type() const
    {
        return type_;
    }
    // Device memory that a model's weights take.
    static size_t bytes(const model_shape &shape, attn_dtype type);
    const void *embedding() const
    {
        return at(ROLE_EMBEDDING, 0);
    }
    const float *output_norm() const
    {
        return static_cast<const float *>(at(ROLE_OUTPUT_NORM, 0));
    }
    const void *output() const
    {
        return at(shape_.tied_output ? ROLE_EMBEDDING : ROLE_OUTPUT, 0);
    }
    layer_weights layer(uint32_t layer) const;

  private:
    struct place {
        tensor_spec spec;
        size_t offset;
    };
    attn_dtype type_of(const tensor_spec &spec) const;
    void *at(tensor_role role, uint32_t layer) const;

    model_shape shape_;
    attn_dtype type_;
    std::vector<place> places_;
    device_memory memory_;
};
