// v3 (v3_q_lds): Q, K and a V segment of 16 dims in LDS. No scratch; K is read head_dim / 16 times.
#include "attention/q_lds.h"

attn_variant attn_v3()
{
    attn_variant v{};
    v.name = "v3";
    v.attn_impl = "v3_q_lds";
    v.idea = "Q, K and V segments of 16 dims staged in LDS";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = q_lds::geometry<16>;
    v.launch = q_lds::launch<16>;
    return v;
}
