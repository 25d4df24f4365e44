// v5 behind a C function, for tools/v5_gpu.py, which compares it with a framework's attention in one process.
#include "attention/attention.h"

#include <cstring>

attn_variant attn_v5();
attn_variant attn_v5_tiles();

// dtype 0 is fp16, 1 is bf16. 0, or the device's error.
extern "C" int v5_attention(const char *variant, const void *q, const void *k, const void *v, void *o,
                            void *scratch, int batch, int seq, int q_heads, int kv_heads, int head_dim,
                            int causal, int dtype, float scale, void *stream)
{
    const attn_variant chosen = std::strcmp(variant, "v5_tiles") == 0 ? attn_v5_tiles() : attn_v5();
    attn_args args{};
    args.shape = {batch, seq, q_heads, kv_heads, head_dim, causal != 0, dtype ? ATTN_BF16 : ATTN_F16};
    args.q = q;
    args.k = k;
    args.v = v;
    args.o = o;
    args.scratch = scratch; // 64 bytes are enough
    args.scale = scale;
    return static_cast<int>(chosen.launch(args, static_cast<hipStream_t>(stream)));
}
