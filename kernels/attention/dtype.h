// The number formats of tensors.
#pragma once

#include <cstddef>

enum attn_dtype { ATTN_F32, ATTN_F16, ATTN_BF16 };

inline size_t dtype_bytes(attn_dtype dtype)
{
    return dtype == ATTN_F32 ? 4 : 2;
}

inline const char *dtype_name(attn_dtype dtype)
{
    switch (dtype) {
    case ATTN_F32:
        return "f32";
    case ATTN_F16:
        return "f16";
    case ATTN_BF16:
        return "bf16";
    }
    return "?";
}
