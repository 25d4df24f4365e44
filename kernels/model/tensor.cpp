#include "model/tensor.h"
#include "base/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace
{
// The file format's blocks: a scale, then the quantised elements, without padding.
struct q8_0_block {
    uint16_t scale; // f16
    int8_t q[quant_block];
};
struct q4_0_block {
    uint16_t scale;             // f16
    uint8_t q[quant_block / 2]; // low halves are elements 0..15, high halves 16..31; both biased by 8
};
static_assert(sizeof(q8_0_block) == 34 && sizeof(q4_0_block) == 18, "blocks are packed");

template <typename T> T load(const unsigned char *at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

void decode_16(const unsigned char *in, uint64_t cols, float (*decode)(uint16_t), float *out)
{
    for (uint64_t i = 0; i < cols; i++)
        out[i] = decode(load<uint16_t>(in + 2 * i));
}

void decode_q8_0(const unsigned char *in, uint64_t cols, float *out)
{
    for (uint64_t at = 0; at < cols; at += quant_block, in += sizeof(q8_0_block)) {
        const auto block = load<q8_0_block>(in);
        const float scale = f32_of_f16(block.scale);
        for (uint64_t i = 0; i < quant_block; i++)
            out[at + i] = scale * static_cast<float>(block.q[i]);
    }
}

void decode_q4_0(const unsigned char *in, uint64_t cols, float *out)
{
    constexpr uint64_t half = quant_block / 2;
    for (uint64_t at = 0; at < cols; at += quant_block, in += sizeof(q4_0_block)) {
        const auto block = load<q4_0_block>(in);
        const float scale = f32_of_f16(block.scale);
        for (uint64_t i = 0; i < half; i++) {
            out[at + i] = scale * static_cast<float>((block.q[i] & 0xf) - 8);
            out[at + half + i] = scale * static_cast<float>((block.q[i] >> 4) - 8);
        }
    }
}

void decode_row(tensor_type type, const unsigned char *in, uint64_t cols, float *out)
{
    switch (type) {
    case TENSOR_F32:
        std::memcpy(out, in, cols * sizeof *out);
        return;
    case TENSOR_F16:
        return decode_16(in, cols, f32_of_f16, out);
    case TENSOR_BF16:
        return decode_16(in, cols, f32_of_bf16, out);
    case TENSOR_Q8_0:
        return decode_q8_0(in, cols, out);
    case TENSOR_Q4_0:
        return decode_q4_0(in, cols, out);
    }
}

void encode_16(const float *in, uint64_t cols, uint16_t (*encode)(float), unsigned char *out)
{
    for (uint64_t i = 0; i < cols; i++) {
        const uint16_t half = encode(in[i]);
        std::memcpy(out + 2 * i, &half, sizeof half);
    }
}

// The element of largest magnitude, with its sign.
float extreme(const float *in)
{
    return *std::max_element(in, in + quant_block,
                             [](float a, float b) { return std::fabs(a) < std::fabs(b); });
}

void encode_q8_0(const float *in, uint64_t cols, unsigned char *out)
{
    for (uint64_t at = 0; at < cols; at += quant_block, out += sizeof(q8_0_block)) {
        const float scale = std::fabs(extreme(in + at)) / 127;
        q8_0_block block{f16_of_f32(scale), {}};
        for (uint64_t i = 0; i < quant_block; i++)
            block.q[i] = static_cast<int8_t>(scale > 0 ? std::lround(in[at + i] / scale) : 0);
        std::memcpy(out, &block, sizeof block);
    }
}

// The extreme maps to -8, the only value of the range -8..7 without an opposite.
uint8_t nibble(float x, float scale)
{
    const long q = scale == 0 ? 8 : std::lround(x / scale) + 8;
    return static_cast<uint8_t>(std::min(std::max(q, 0L), 15L));
}

void encode_q4_0(const float *in, uint64_t cols, unsigned char *out)
{
    constexpr uint64_t half = quant_block / 2;
    for (uint64_t at = 0; at < cols; at += quant_block, out += sizeof(q4_0_block)) {
        const float scale = extreme(in + at) / -8;
        q4_0_block block{f16_of_f32(scale), {}};
        for (uint64_t i = 0; i < half; i++)
            block.q[i] =
                static_cast<uint8_t>(nibble(in[at + i], scale) | nibble(in[at + half + i], scale) << 4);
        std::memcpy(out, &block, sizeof block);
    }
}
} // namespace

const char *tensor_type_name(tensor_type type)
{
    switch (type) {
    case TENSOR_F32:
        return "F32";
    case TENSOR_F16:
        return "F16";
    case TENSOR_BF16:
        return "BF16";
    case TENSOR_Q8_0:
        return "Q8_0";
    case TENSOR_Q4_0:
        return "Q4_0";
    }
    return "?";
}

bool tensor_is_quantised(tensor_type type)
{
    return type == TENSOR_Q8_0 || type == TENSOR_Q4_0;
}

uint64_t tensor_row_bytes(tensor_type type, uint64_t cols)
{
    switch (type) {
    case TENSOR_F32:
        return cols * 4;
    case TENSOR_F16:
    case TENSOR_BF16:
        return cols * 2;
    case TENSOR_Q8_0:
        return cols / quant_block * sizeof(q8_0_block);
    case TENSOR_Q4_0:
        return cols / quant_block * sizeof(q4_0_block);
    }
    return 0;
}

void tensor_to_f32(const tensor_view &tensor, uint64_t row, uint64_t n_rows, float *out)
{
    const uint64_t bytes = tensor_row_bytes(tensor.type, tensor.cols);
    const auto *data = static_cast<const unsigned char *>(tensor.data);
    for (uint64_t r = row; r < row + n_rows; r++, out += tensor.cols)
        decode_row(tensor.type, data + r * bytes, tensor.cols, out);
}

void tensor_row_of_f32(tensor_type type, const float *in, uint64_t cols, void *out)
{
    auto *bytes = static_cast<unsigned char *>(out);
    switch (type) {
    case TENSOR_F32:
        std::memcpy(bytes, in, cols * sizeof *in);
        return;
    case TENSOR_F16:
        return encode_16(in, cols, f16_of_f32, bytes);
    case TENSOR_BF16:
        return encode_16(in, cols, bf16_of_f32, bytes);
    case TENSOR_Q8_0:
        return encode_q8_0(in, cols, bytes);
    case TENSOR_Q4_0:
        return encode_q4_0(in, cols, bytes);
    }
}
