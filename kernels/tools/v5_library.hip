// v5 as C functions, for tools/v5_gpu.py, which compares it with PyTorch's attention within one process.
#include "attention/v5_hopper_launch.h"
#include "attention/v5_launch.h"

#include <cstring>

namespace
{
attn_shape shape_of(int batch, int seq, int q_heads, int kv_heads, int head_dim, int causal, int dtype)
{
    return {batch, seq, q_heads, kv_heads, head_dim, causal != 0, dtype ? ATTN_BF16 : ATTN_F16};
}

// Parts of at most `spans` spans of keys; 0: the split chosen for the device.
v5::split split_of(bool loop, const attn_shape &s, int spans)
{
    if (spans > 0)
        return v5::split_by(s, spans);
    return loop ? v5::tiles_split(s) : v5::pipeline_split(s);
}
} // namespace

// The number of parts of the longest rows.
extern "C" int v5_parts(const char *form, int batch, int seq, int q_heads, int kv_heads, int head_dim,
                        int causal, int dtype, int spans)
{
    const attn_shape s = shape_of(batch, seq, q_heads, kv_heads, head_dim, causal, dtype);
    return split_of(std::strcmp(form, "v5_tiles") == 0, s, spans).parts;
}

extern "C" size_t v5_scratch(const char *form, int batch, int seq, int q_heads, int kv_heads, int head_dim,
                             int causal, int dtype, int spans)
{
    const attn_shape s = shape_of(batch, seq, q_heads, kv_heads, head_dim, causal, dtype);
    const v5::split by = split_of(std::strcmp(form, "v5_tiles") == 0, s, spans);
    return v5::counter_bytes + v5::split_bytes(s, by);
}

// form: v5 or v5_tiles; dtype: 0 is fp16, 1 is bf16. Returns the CUDA error, 0 on success.
extern "C" int v5_attention(const char *form, const void *q, const void *k, const void *v, void *o,
                            void *scratch, int batch, int seq, int q_heads, int kv_heads, int head_dim,
                            int causal, int dtype, int spans, float scale, void *stream)
{
    const bool loop = std::strcmp(form, "v5_tiles") == 0;
    attn_args args{};
    args.shape = shape_of(batch, seq, q_heads, kv_heads, head_dim, causal, dtype);
    args.q = q;
    args.k = k;
    args.v = v;
    args.o = o;
    args.scratch = scratch;
    args.scale = scale;
    const v5::split by = split_of(loop, args.shape, spans);
    const auto on = static_cast<hipStream_t>(stream);
    return static_cast<int>(v5::choose(args, [&](auto type, auto dim) {
        return loop ? v5::launch_tiles<type, dim>(args, by, on)
                    : v5::launch_pipelined<type, dim>(args, by, on);
    }));
}
