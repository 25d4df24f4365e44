// The operations and bytes that any attention kernel needs, from which rooflines are computed.
#pragma once

#include "runner/tensors.h"

#include <cmath>

// A multiply-add counts as two; a causal mask halves the count.
inline double attention_flops(const attn_shape &s)
{
    return 4.0 * s.batch * s.seq * s.seq * s.q_heads * s.head_dim / (s.causal ? 2 : 1);
}

// Every input read once, the output written once.
inline double attention_bytes(const attn_shape &s)
{
    return static_cast<double>(2 * query_elements(s) + 2 * key_elements(s)) *
           static_cast<double>(dtype_bytes(s.dtype));
}

// More than all of a ceiling is no share: it was measured lower than what was reached, as on a card that is
// hot.
inline double share_of_ceiling(double reached)
{
    return reached > 1.0 ? NAN : reached;
}
