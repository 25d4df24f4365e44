// v4 (v4_ql_v_lds): v3 with V segments of 32 dims, so K is read head_dim / 32 times, half as often.
#include "attention/q_lds.h"

attn_variant attn_v4()
{
    attn_variant v{};
    v.name = "v4";
    v.attn_impl = "v4_ql_v_lds";
    v.idea = "Q, K and V segments of 32 dims staged in LDS";
    v.dtypes = 1u << ATTN_F32;
    v.deterministic = true;
    v.geometry = q_lds::geometry<32>;
    v.launch = q_lds::launch<32>;
    return v;
}
