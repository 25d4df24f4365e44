// A launch of a variant for tests: its title, and the output, which began as poison.
#pragma once

#include "runner/check.h"

#include <cstdio>

inline std::string describe(const attn_shape &s)
{
    char text[160];
    std::snprintf(text, sizeof text, "%s B=%d S=%d H=%d/%d D=%d%s", dtype_name(s.dtype), s.batch, s.seq,
                  s.q_heads, s.kv_heads, s.head_dim, s.causal ? " causal" : "");
    return text;
}

inline tensors::host_copy launched(const attn_variant &variant, tensors &memory)
{
    memory.poison();
    hip_check(variant.launch(memory.args(), nullptr), variant.name);
    hip_check(hipDeviceSynchronize(), variant.name);
    return memory.copy();
}
