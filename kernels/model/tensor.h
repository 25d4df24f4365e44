// A matrix as stored in a GGUF file: row-major, `cols` contiguous elements per row, in one of five encodings.
// Knows nothing of files, models or devices.
#pragma once

#include <cstdint>

enum tensor_type { TENSOR_F32, TENSOR_F16, TENSOR_BF16, TENSOR_Q8_0, TENSOR_Q4_0 };
constexpr int tensor_type_count = 5;

// Elements per block of Q8_0 and Q4_0. Rows consist of whole blocks.
constexpr uint64_t quant_block = 32;

// y = W x has `cols` inputs and `rows` outputs. A vector has one row.
struct tensor_view {
    const void *data; // not owned
    tensor_type type;
    uint64_t rows, cols;
};

const char *tensor_type_name(tensor_type type); // "F32", ..., as GGUF's own tools write them
bool tensor_is_quantised(tensor_type type);

// Bytes per row; cols is a multiple of quant_block if the type is quantised.
uint64_t tensor_row_bytes(tensor_type type, uint64_t cols);

// Decodes n_rows rows from `row` on into out[n_rows * cols].
void tensor_to_f32(const tensor_view &tensor, uint64_t row, uint64_t n_rows, float *out);

// Encodes one row of `cols` finite numbers into tensor_row_bytes() bytes.
void tensor_row_of_f32(tensor_type type, const float *in, uint64_t cols, void *out);
