#include "model/forward.h"
#include "base/hip_check.h"
#include "model/fused.h"

#include <algorithm>
#include <cmath>

namespace
{
attn_shape attention_shape(const model_shape &s, attn_dtype type, int tokens)
{
    return {
        1,    tokens, static_cast<int>(s.heads), static_cast<int>(s.kv_heads), static_cast<int>(s.head_dim),
        true, type};
}

// The sizes of all buffers, in bytes.
struct sizes {
    size_t cache, turns, ids, stream, query, attn_scratch, normed, wide, hidden, delta, logits, chosen;

    sizes(const model_shape &s, attn_dtype type, const forward_options &o)
    {
        const attn_dtype attn_type = attention_type(*o.variant, type);
        const size_t wide_type = dtype_bytes(type), attn_bytes = dtype_bytes(attn_type);
        const size_t prompt = o.prompt, chunk = std::min(o.chunk, o.prompt), capacity = o.capacity;
        const size_t query_width = static_cast<size_t>(s.heads) * s.head_dim;
        const size_t key_width = static_cast<size_t>(s.kv_heads) * s.head_dim;
        const attn_shape shape = attention_shape(s, attn_type, o.prompt);
        cache = 2 * s.layers * capacity * key_width * attn_bytes;
        turns = capacity * (s.rope_dims / 2) * sizeof(float2);
        ids = prompt * sizeof(uint32_t);
        stream = prompt * s.width * sizeof(float);
        query = prompt * query_width * attn_bytes;
        attn_scratch = o.variant->scratch_bytes ? o.variant->scratch_bytes(shape) : 0;
        normed = chunk * std::max<size_t>(s.width, query_width) * wide_type;
        wide =
            chunk * std::max<size_t>(query_width + 2 * key_width, 2 * static_cast<size_t>(s.ffn)) * wide_type;
        hidden = chunk * s.ffn * wide_type;
        delta = chunk * s.width * wide_type;
        logits = static_cast<size_t>(o.logit_rows) * s.vocab * sizeof(float);
        chosen = sizeof(uint32_t);
    }
    size_t scratch() const
    {
        return turns + ids + stream + 2 * query + attn_scratch + normed + wide + hidden + delta + logits +
               chosen + gemm::workspace_bytes();
    }
};

// cos and sin of every position's angles. Computed in fp64: in fp32 the angles of late positions are
// imprecise.
std::vector<float2> turns_of(const model_shape &s, int positions)
{
    std::vector<float2> turns;
    turns.reserve(static_cast<size_t>(positions) * (s.rope_dims / 2));
    for (int position = 0; position < positions; position++) {
        for (uint32_t i = 0; i < s.rope_dims; i += 2) {
            const double frequency =
                std::pow(static_cast<double>(s.rope_base), -static_cast<double>(i) / s.rope_dims);
            const double angle = position * frequency / s.rope_scale;
            turns.push_back(
                make_float2(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))));
        }
    }
    return turns;
}

void to_device(const device_memory &to, const void *from, size_t bytes)
{
    hip_check(hipMemcpy(to.get(), from, bytes, hipMemcpyHostToDevice), "cannot copy to the device");
}

void to_host(void *to, const device_memory &from, size_t bytes)
{
    hip_check(hipMemcpy(to, from.get(), bytes, hipMemcpyDeviceToHost), "cannot copy to the host");
}

char *byte(const device_memory &memory, size_t offset)
{
    return static_cast<char *>(memory.get()) + offset;
}
} // namespace

attn_dtype attention_type(const attn_variant &variant, attn_dtype type)
{
    if (variant.dtypes & 1u << type)
        return type;
    return variant.dtypes & 1u << ATTN_F32 ? ATTN_F32 : ATTN_F16;
}

std::string forward::problem(const model_shape &s, const attn_variant &variant)
{
    if (s.head_dim != 64 && s.head_dim != 128)
        return "heads of " + std::to_string(s.head_dim) + " dimensions: variant " + variant.name +
               " supports 64 and 128";
    if (s.width % 4 != 0 || s.ffn % 4 != 0 || s.rope_dims % 4 != 0)
        return "width " + std::to_string(s.width) + ", FFN width " + std::to_string(s.ffn) + ", " +
               std::to_string(s.rope_dims) + " rotated dimensions: must be multiples of 4";
    return "";
}

forward_memory forward::memory(const model_shape &shape, attn_dtype type, const forward_options &options)
{
    const sizes bytes(shape, type, options);
    return {model_weights::bytes(shape, type), bytes.cache, bytes.scratch()};
}

struct forward::buffers {
    device_memory cache, turns, ids, stream, q, o, attn_scratch; // per position or row of the prompt
    device_memory normed, wide, hidden, delta;                   // per row of a chunk
    device_memory logits, chosen;

    explicit buffers(const sizes &b)
        : cache(b.cache), turns(b.turns), ids(b.ids), stream(b.stream), q(b.query), o(b.query),
          attn_scratch(b.attn_scratch), normed(b.normed), wide(b.wide), hidden(b.hidden), delta(b.delta),
          logits(b.logits), chosen(b.chosen)
    {
    }
    float *logits_f32() const
    {
        return static_cast<float *>(logits.get());
    }
};

forward::forward(const model_weights &weights, const forward_options &options)
    : weights_(weights), shape_(weights.shape()), options_(options), type_(weights.type()),
      attn_type_(attention_type(*options.variant, type_)),
      query_width_(static_cast<int>(shape_.heads * shape_.head_dim)),
      key_width_(static_cast<int>(shape_.kv_heads * shape_.head_dim)), products_(options.deterministic),
      memory_(std::make_unique<buffers>(sizes(shape_, type_, options)))
{
    const std::vector<float2> turns = turns_of(shape_, options.capacity);
    to_device(memory_->turns, turns.data(), turns.size() * sizeof(float2));
}

forward::~forward() = default;

void forward::enter(stage next)
{
    if (clock_)
        clock_->enter(next);
}

void *forward::cached(uint32_t layer, int kv, int position) const
{
    const size_t row = (2 * static_cast<size_t>(layer) + kv) * options_.capacity + position;
    return byte(memory_->cache, row * key_width_ * dtype_bytes(attn_type_));
}

// A multiply-add counts as two.
void forward::count_product(int rows, int out, int in)
{
    product_flops_ += 2.0 * rows * out * in;
}

void forward::multiply(void *y, attn_dtype y_type, const void *x, const void *w, int rows, int out, int in)
{
    enter(STAGE_GEMM);
    count_product(rows, out, in);
    products_.multiply(y, y_type, x, w, type_, rows, out, in);
}

// Adds `delta` to the residual stream and leaves the normalised rows in `normed`.
void forward::norm(const rows &r, const void *delta, const float *weight)
{
    enter(STAGE_OTHER);
    auto *stream = static_cast<float *>(memory_->stream.get()) + static_cast<size_t>(r.first) * shape_.width;
    op_add_norm({memory_->normed.get(), stream, delta, weight, r.count, static_cast<int>(shape_.width),
                 shape_.rms_eps, type_});
}

// The layer up to q, k and v.
void forward::begin_layer(uint32_t layer, const rows &r, const void *delta)
{
    const layer_weights w = weights_.layer(layer);
    norm(r, delta, w.attn_norm);
    const int position = position_ + r.first, pairs = static_cast<int>(shape_.rope_dims / 2);
    const rope_args rope{
        byte(memory_->q, static_cast<size_t>(r.first) * query_width_ * dtype_bytes(attn_type_)),
        cached(layer, 0, position),
        cached(layer, 1, position),
        memory_->wide.get(),
        static_cast<const float2 *>(memory_->turns.get()) + static_cast<size_t>(position) * pairs,
        r.count,
        static_cast<int>(shape_.heads),
        static_cast<int>(shape_.kv_heads),
        static_cast<int>(shape_.head_dim),
        static_cast<int>(shape_.rope_dims),
        type_,
        attn_type_};
    const int width = static_cast<int>(shape_.width), qkv_width = query_width_ + 2 * key_width_;
    enter(STAGE_GEMM);
    if (fused_qkv(rope, memory_->normed.get(), w.qkv, width)) {
        count_product(r.count, qkv_width, width);
        fused_products_ = true;
        return;
    }
    multiply(memory_->wide.get(), type_, memory_->normed.get(), w.qkv, r.count, qkv_width, width);
    enter(STAGE_OTHER);
    op_rope(rope);
}

void forward::attend(uint32_t layer, int count)
{
    const float scale = 1.0f / std::sqrt(static_cast<float>(shape_.head_dim));
    enter(STAGE_ATTENTION);
    if (position_ == 0) {
        const attn_args args{attention_shape(shape_, attn_type_, count),
                             memory_->q.get(),
                             cached(layer, 0, 0),
                             cached(layer, 1, 0),
                             memory_->o.get(),
                             memory_->attn_scratch.get(),
                             scale};
        hip_check(options_.variant->launch(args, nullptr),
                  std::string("cannot launch ") + options_.variant->attn_impl);
        return;
    }
    op_decode_attention({memory_->o.get(), memory_->q.get(), cached(layer, 0, 0), cached(layer, 1, 0),
                         position_ + 1, static_cast<int>(shape_.heads), static_cast<int>(shape_.kv_heads),
                         static_cast<int>(shape_.head_dim), scale, attn_type_});
}

// The layer from the attention's output on. Leaves the FFN's contribution in `delta`.
void forward::end_layer(uint32_t layer, const rows &r)
{
    const layer_weights w = weights_.layer(layer);
    const int width = static_cast<int>(shape_.width), ffn = static_cast<int>(shape_.ffn);
    const size_t at = static_cast<size_t>(r.first) * query_width_ * dtype_bytes(attn_type_);
    const void *attended = byte(memory_->o, at);
    if (attn_type_ != type_) {
        enter(STAGE_OTHER);
        op_convert(memory_->normed.get(), type_, attended, attn_type_,
                   static_cast<size_t>(r.count) * query_width_);
        attended = memory_->normed.get();
    }
    multiply(memory_->delta.get(), type_, attended, w.wo, r.count, width, query_width_);
    norm(r, memory_->delta.get(), w.ffn_norm);
    enter(STAGE_GEMM);
    if (fused_gate_up(memory_->hidden.get(), memory_->normed.get(), w.gate_up, type_, r.count, ffn, width)) {
        count_product(r.count, 2 * ffn, width);
        fused_products_ = true;
    } else {
        multiply(memory_->wide.get(), type_, memory_->normed.get(), w.gate_up, r.count, 2 * ffn, width);
        enter(STAGE_OTHER);
        op_swiglu(memory_->hidden.get(), memory_->wide.get(), r.count, ffn, type_);
    }
    multiply(memory_->delta.get(), type_, memory_->hidden.get(), w.down, r.count, width, ffn);
}

// All logits of the chunk for the sink, and those of the prompt's last row.
void forward::finish(const rows &r, bool last, const logits_sink &sink)
{
    norm(r, memory_->delta.get(), weights_.output_norm());
    if (sink)
        all_logits(r.count, sink);
    if (!last)
        return;
    const size_t row = static_cast<size_t>(r.count - 1) * shape_.width * dtype_bytes(type_);
    multiply(memory_->logits.get(), ATTN_F32, byte(memory_->normed, row), weights_.output(), 1,
             static_cast<int>(shape_.vocab), static_cast<int>(shape_.width));
}

void forward::all_logits(int count, const logits_sink &sink)
{
    std::vector<float> host;
    for (int first = 0; first < count; first += options_.logit_rows) {
        const int some = std::min(options_.logit_rows, count - first);
        const size_t row = static_cast<size_t>(first) * shape_.width * dtype_bytes(type_);
        multiply(memory_->logits.get(), ATTN_F32, byte(memory_->normed, row), weights_.output(), some,
                 static_cast<int>(shape_.vocab), static_cast<int>(shape_.width));
        host.resize(static_cast<size_t>(some) * shape_.vocab);
        to_host(host.data(), memory_->logits, host.size() * sizeof(float));
        sink(host.data(), some);
    }
}

void forward::run(const std::vector<uint32_t> &ids, const logits_sink &sink)
{
    const int count = static_cast<int>(ids.size()), width = static_cast<int>(shape_.width);
    product_flops_ = 0;
    std::vector<rows> chunks;
    for (int first = 0; first < count; first += options_.chunk)
        chunks.push_back({first, std::min(options_.chunk, count - first)});

    to_device(memory_->ids, ids.data(), ids.size() * sizeof(uint32_t));
    enter(STAGE_OTHER);
    op_embed(static_cast<float *>(memory_->stream.get()), weights_.embedding(), type_,
             static_cast<const uint32_t *>(memory_->ids.get()), count, width);
    for (const rows &r : chunks)
        begin_layer(0, r, nullptr);
    const uint32_t last = shape_.layers - 1;
    for (uint32_t layer = 0; layer < last; layer++) {
        attend(layer, count);
        for (const rows &r : chunks) {
            end_layer(layer, r);
            begin_layer(layer + 1, r, memory_->delta.get());
        }
    }
    attend(last, count);
    if (!sink) // no other row's logits are wanted, and nothing else depends on what follows
        chunks = {{count - 1, 1}};
    for (const rows &r : chunks) {
        end_layer(last, r);
        finish(r, &r == &chunks.back(), sink);
    }
    position_ += count;
}

void forward::prefill(const std::vector<uint32_t> &ids, stage_clock *clock, const logits_sink &sink)
{
    position_ = 0;
    clock_ = clock;
    run(ids, sink);
    clock_ = nullptr;
}

void forward::decode(uint32_t id)
{
    run({id}, nullptr);
}

void forward::warm_up()
{
    prefill({0}, nullptr, nullptr);
    if (options_.capacity > 1)
        decode(0);
    position_ = 0; // so that the launches below write within the prompt's buffers
    const int chunk = std::min(options_.chunk, options_.prompt);
    for (const int count : {chunk, options_.prompt % chunk}) {
        if (count == 0)
            continue;
        begin_layer(0, {0, count}, memory_->delta.get());
        end_layer(0, {0, count});
    }
    hip_check(hipDeviceSynchronize(), "the first launches failed");
}

uint32_t forward::choose()
{
    auto *chosen = static_cast<uint32_t *>(memory_->chosen.get());
    uint32_t id;
    op_argmax(chosen, memory_->logits_f32(), static_cast<int>(shape_.vocab));
    to_host(&id, memory_->chosen, sizeof id);
    return id;
}

std::vector<float> forward::logits() const
{
    std::vector<float> host(shape_.vocab);
    to_host(host.data(), memory_->logits, host.size() * sizeof(float));
    return host;
}
