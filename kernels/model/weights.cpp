#include "model/weights.h"
#include "base/hip_check.h"
#include "model/ops.h"
#include "model/seeded.h"

#include <algorithm>

namespace
{
constexpr size_t alignment = 256;
constexpr size_t staged_numbers = 4u << 20; // elements decoded at a time

// Whether the tensor shares a GEMM with the previous one, and so must follow it in memory.
bool follows(tensor_role role)
{
    return role == ROLE_WK || role == ROLE_WV || role == ROLE_UP;
}

bool same_type(tensor_type in_file, attn_dtype type)
{
    switch (type) {
    case ATTN_F32:
        return in_file == TENSOR_F32;
    case ATTN_F16:
        return in_file == TENSOR_F16;
    case ATTN_BF16:
        return in_file == TENSOR_BF16;
    }
    return false;
}

void to_device(void *to, const void *from, size_t bytes)
{
    hip_check(hipMemcpy(to, from, bytes, hipMemcpyHostToDevice), "cannot copy weights to the device");
}

// Decodes a tensor on the host, some rows at a time, and rounds it on the device.
class decoder
{
  public:
    decoder() : staged_(staged_numbers * sizeof(float))
    {
    }
    void load(void *to, attn_dtype type, const tensor_view &from)
    {
        if (same_type(from.type, type)) {
            to_device(to, from.data, from.rows * from.cols * dtype_bytes(type));
            return;
        }
        const uint64_t at_once = std::max<uint64_t>(1, staged_numbers / from.cols);
        for (uint64_t row = 0; row < from.rows; row += at_once) {
            const uint64_t count = std::min(at_once, from.rows - row);
            decoded_.resize(count * from.cols);
            tensor_to_f32(from, row, count, decoded_.data());
            to_device(staged_.get(), decoded_.data(), decoded_.size() * sizeof(float));
            op_convert(static_cast<char *>(to) + row * from.cols * dtype_bytes(type), type, staged_.get(),
                       ATTN_F32, decoded_.size());
        }
    }

  private:
    std::vector<float> decoded_;
    device_memory staged_;
};

struct layout {
    size_t end = 0;

    size_t put(tensor_role role, size_t bytes)
    {
        if (!follows(role))
            end = (end + alignment - 1) / alignment * alignment;
        end += bytes;
        return end - bytes;
    }
};
} // namespace

size_t model_weights::bytes(const model_shape &shape, attn_dtype type)
{
    layout all;
    for (const tensor_spec &spec : tensor_specs(shape))
        all.put(spec.role, spec.rows * spec.cols * dtype_bytes(role_is_norm(spec.role) ? ATTN_F32 : type));
    return all.end;
}

model_weights::model_weights(const model_shape &shape, attn_dtype type)
    : shape_(shape), type_(type), memory_(bytes(shape, type))
{
    layout all;
    for (const tensor_spec &spec : tensor_specs(shape))
        places_.push_back({spec, all.put(spec.role, spec.rows * spec.cols * dtype_bytes(type_of(spec)))});
}

attn_dtype model_weights::type_of(const tensor_spec &spec) const
{
    return role_is_norm(spec.role) ? ATTN_F32 : type_;
}

void *model_weights::at(tensor_role role, uint32_t layer) const
{
    for (const place &p : places_) {
        if (p.spec.role == role && p.spec.layer == layer)
            return static_cast<char *>(memory_.get()) + p.offset;
    }
    return nullptr;
}

layer_weights model_weights::layer(uint32_t layer) const
{
    return {static_cast<const float *>(at(ROLE_ATTN_NORM, layer)),
            static_cast<const float *>(at(ROLE_FFN_NORM, layer)),
            at(ROLE_WQ, layer),
            at(ROLE_WO, layer),
            at(ROLE_GATE, layer),
            at(ROLE_DOWN, layer)};
}

void model_weights::load(const model_tensors &tensors)
{
    decoder decode;
    model_tensors views = tensors;
    for (const place &p : places_)
        decode.load(static_cast<char *>(memory_.get()) + p.offset, type_of(p.spec), tensor_at(views, p.spec));
    hip_check(hipDeviceSynchronize(), "cannot load the weights");
}

void model_weights::make(uint64_t seed)
{
    for (const place &p : places_)
        op_seeded(static_cast<char *>(memory_.get()) + p.offset, type_of(p.spec),
                  seeded_weights(p.spec, shape_, seed), p.spec.rows * p.spec.cols);
    hip_check(hipDeviceSynchronize(), "cannot make the weights");
}
