#include "model/forward.h"
#include "base/hip_check.h"

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

// The arguments of the fused product of q, k and v, without the pointers to its data.
rope_args qkv_of(const model_shape &s, attn_dtype type, attn_dtype attn_type, int rows)
{
    rope_args args{};
    args.rows = rows;
    args.q_heads = static_cast<int>(s.heads);
    args.kv_heads = static_cast<int>(s.kv_heads);
    args.head_dim = static_cast<int>(s.head_dim);
    args.rope_dims = static_cast<int>(s.rope_dims);
    args.type = type;
    args.to_type = attn_type;
    return args;
}

bool fuses_gate_up(const model_shape &s, attn_dtype type, int rows)
{
    return fuses_gate_up(type, rows, static_cast<int>(s.ffn), static_cast<int>(s.width));
}

bool fuses_qkv(const model_shape &s, attn_dtype type, attn_dtype attn_type, int rows)
{
    return fuses_qkv(qkv_of(s, type, attn_type, rows), static_cast<int>(s.width));
}

// The number of elements that `rows` rows of the unfused products need.
size_t unfused(const model_shape &s, attn_dtype type, attn_dtype attn_type, int rows)
{
    const size_t qkv = static_cast<size_t>(s.heads + 2 * s.kv_heads) * s.head_dim,
                 gate_up = 2 * size_t{s.ffn};
    return static_cast<size_t>(rows) * std::max(fuses_qkv(s, type, attn_type, rows) ? 0 : qkv,
                                                fuses_gate_up(s, type, rows) ? 0 : gate_up);
}

bool fuses_sums(const model_shape &s, attn_dtype type, int rows)
{
    const int width = static_cast<int>(s.width);
    return fuses_sum(type, rows, width, static_cast<int>(s.heads * s.head_dim)) &&
           fuses_sum(type, rows, width, static_cast<int>(s.ffn));
}

// Whether a chunk's normalised rows fit in the buffer of the attention's output, which is free after the
// product that reads it, and its additions to the stream in the buffer of q, which is free after the
// attention.
bool fits_in_place(const model_shape &s, attn_dtype type, attn_dtype attn_type)
{
    return type == attn_type && s.width <= s.heads * s.head_dim;
}

// The sizes of all buffers, in bytes.
struct sizes {
    size_t cache, turns, ids, stream, query, attn_scratch, normed, wide = 0, hidden, delta, squares, logits,
                                                                   chosen;

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
        const bool in_place = fits_in_place(s, type, attn_type);
        normed = in_place ? 0 : chunk * std::max<size_t>(s.width, query_width) * wide_type;
        for (const int rows : {o.chunk, o.prompt % o.chunk, 1}) // 1: decoding
            wide = std::max(wide, unfused(s, type, attn_type, std::min(rows, o.prompt)) * wide_type);
        hidden = chunk * s.ffn * wide_type;
        delta = in_place ? 0 : chunk * s.width * wide_type;
        squares = chunk * static_cast<size_t>(row_parts(static_cast<int>(s.width))) * sizeof(float);
        logits = static_cast<size_t>(o.logit_rows) * s.vocab * sizeof(float);
        chosen = sizeof(uint32_t);
    }
    size_t scratch() const
    {
        return turns + ids + stream + 2 * query + attn_scratch + normed + wide + hidden + delta + squares +
               logits + chosen + gemm::workspace_bytes();
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
    const auto takes = [&](attn_dtype other) { return (variant.dtypes & 1u << other) != 0; };
    const attn_dtype instead = takes(ATTN_F32) ? ATTN_F32 : ATTN_F16;
    switch (type) { // GCC 14.2 inverts the condition of "takes(type) ? type : instead" (-O1 and above)
    case ATTN_F16:
        return takes(ATTN_F16) ? ATTN_F16 : instead;
    case ATTN_BF16:
        return takes(ATTN_BF16) ? ATTN_BF16 : instead;
    case ATTN_F32:
        break;
    }
    return instead;
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

int forward::best_chunk(const model_shape &shape, attn_dtype type, const attn_variant &variant)
{
    constexpr int some = 4096, many = 16384; // docs/kernels/model.md has the measurements
    return unfused(shape, type, attention_type(variant, type), many) == 0 ? many : some;
}

struct forward::buffers {
    device_memory cache, turns, ids, stream, q, o, attn_scratch; // per position or row of the prompt
    device_memory normed, delta;                                 // per row of a chunk, if not in place
    device_memory wide, hidden, squares;                         // per row of a chunk
    size_t wide_bytes;
    device_memory logits, chosen;

    explicit buffers(const sizes &b)
        : cache(b.cache), turns(b.turns), ids(b.ids), stream(b.stream), q(b.query), o(b.query),
          attn_scratch(b.attn_scratch), normed(b.normed), delta(b.delta), wide(b.wide), hidden(b.hidden),
          squares(b.squares), wide_bytes(b.wide), logits(b.logits), chosen(b.chosen)
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

// A chunk's normalised rows: type_, [count, width].
void *forward::normed(const rows &r) const
{
    if (!fits_in_place(shape_, type_, attn_type_))
        return memory_->normed.get();
    return byte(memory_->o, static_cast<size_t>(r.first) * query_width_ * dtype_bytes(type_));
}

// The chunk's next additions to the residual stream: type_, [count, width].
void *forward::delta(const rows &r) const
{
    if (!fits_in_place(shape_, type_, attn_type_))
        return memory_->delta.get();
    return byte(memory_->q, static_cast<size_t>(r.first) * query_width_ * dtype_bytes(type_));
}

float *forward::stream(const rows &r) const
{
    return static_cast<float *>(memory_->stream.get()) + static_cast<size_t>(r.first) * shape_.width;
}

// Whether rows of an unfused product fit. They do for the planned prompt, but a shorter one may have a number
// of rows that would be faster unfused and does not fit; the product is then fused nevertheless.
bool forward::has_room(int rows, int width) const
{
    return static_cast<size_t>(rows) * width * dtype_bytes(type_) <= memory_->wide_bytes;
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

// Adds `delta` to the residual stream and normalises its rows, in the place normed(r).
forward::normed_rows forward::norm(const rows &r, const void *delta, const float *weight)
{
    enter(STAGE_OTHER);
    op_add_norm({normed(r), stream(r), delta, weight, r.count, static_cast<int>(shape_.width), shape_.rms_eps,
                 type_});
    return {normed(r), {}};
}

// Adds x W^T to the residual stream and returns its rows for the next product. If that is `fused`, it can
// divide by the norms itself, so this product may take the norm's place; the rows are then in `fused_to`.
forward::normed_rows forward::add(const rows &r, void *fused_to, const void *x, const void *w, int in,
                                  const float *weight, bool fused)
{
    const int width = static_cast<int>(shape_.width);
    if (!fused || !fuses_sums(shape_, type_, r.count)) {
        multiply(delta(r), type_, x, w, r.count, width, in);
        return norm(r, delta(r), weight);
    }
    enter(STAGE_GEMM);
    count_product(r.count, width, in);
    auto *squares = static_cast<float *>(memory_->squares.get());
    fused_sum({fused_to, stream(r), squares, weight, r.count, width}, x, w, in);
    return {fused_to, {squares, r.count, width, shape_.rms_eps}};
}

bool forward::takes_qkv(int rows) const
{
    return fuses_qkv(shape_, type_, attn_type_, rows) || !has_room(rows, query_width_ + 2 * key_width_);
}

bool forward::takes_gate_up(int rows) const
{
    return fuses_gate_up(shape_, type_, rows) || !has_room(rows, 2 * static_cast<int>(shape_.ffn));
}

// Runs the layer up to q, k and v.
void forward::begin_layer(uint32_t layer, const rows &r, const normed_rows &in)
{
    const layer_weights w = weights_.layer(layer);
    const int position = position_ + r.first, pairs = static_cast<int>(shape_.rope_dims / 2);
    rope_args rope = qkv_of(shape_, type_, attn_type_, r.count);
    rope.q = byte(memory_->q, static_cast<size_t>(r.first) * query_width_ * dtype_bytes(attn_type_));
    rope.k = cached(layer, 0, position);
    rope.v = cached(layer, 1, position);
    rope.qkv = memory_->wide.get();
    rope.turns = static_cast<const float2 *>(memory_->turns.get()) + static_cast<size_t>(position) * pairs;
    const int width = static_cast<int>(shape_.width), qkv_width = query_width_ + 2 * key_width_;
    if (takes_qkv(r.count)) {
        enter(STAGE_GEMM);
        count_product(r.count, qkv_width, width);
        fused_qkv(rope, in.x, in.norms, w.qkv, width);
        fused_products_ = true;
        return;
    }
    multiply(memory_->wide.get(), type_, in.x, w.qkv, r.count, qkv_width, width);
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

// Runs the layer from the attention's output on, and the next norm.
forward::normed_rows forward::end_layer(uint32_t layer, const rows &r)
{
    const layer_weights w = weights_.layer(layer);
    const int width = static_cast<int>(shape_.width), ffn = static_cast<int>(shape_.ffn);
    const size_t at = static_cast<size_t>(r.first) * query_width_ * dtype_bytes(attn_type_);
    const void *attended = byte(memory_->o, at);
    if (attn_type_ != type_) {
        enter(STAGE_OTHER);
        op_convert(normed(r), type_, attended, attn_type_, static_cast<size_t>(r.count) * query_width_);
        attended = normed(r);
    }
    const normed_rows in = add(r, delta(r), attended, w.wo, query_width_, w.ffn_norm, takes_gate_up(r.count));
    if (takes_gate_up(r.count)) {
        enter(STAGE_GEMM);
        count_product(r.count, 2 * ffn, width);
        fused_gate_up(memory_->hidden.get(), in.x, in.norms, w.gate_up, type_, r.count, ffn, width);
        fused_products_ = true;
    } else {
        multiply(memory_->wide.get(), type_, in.x, w.gate_up, r.count, 2 * ffn, width);
        enter(STAGE_OTHER);
        op_swiglu(memory_->hidden.get(), memory_->wide.get(), r.count, ffn, type_);
    }
    const bool last = layer + 1 == shape_.layers;
    const float *next = last ? weights_.output_norm() : weights_.layer(layer + 1).attn_norm;
    return add(r, normed(r), memory_->hidden.get(), w.down, ffn, next, !last && takes_qkv(r.count));
}

// Computes all logits of the chunk if there is a sink, and those of the prompt's last row.
void forward::finish(const rows &r, bool last, const logits_sink &sink)
{
    if (sink)
        all_logits(r, sink);
    if (!last)
        return;
    const size_t row = static_cast<size_t>(r.count - 1) * shape_.width * dtype_bytes(type_);
    multiply(memory_->logits.get(), ATTN_F32, static_cast<char *>(normed(r)) + row, weights_.output(), 1,
             static_cast<int>(shape_.vocab), static_cast<int>(shape_.width));
}

void forward::all_logits(const rows &r, const logits_sink &sink)
{
    std::vector<float> host;
    for (int first = 0; first < r.count; first += options_.logit_rows) {
        const int some = std::min(options_.logit_rows, r.count - first);
        const size_t row = static_cast<size_t>(first) * shape_.width * dtype_bytes(type_);
        multiply(memory_->logits.get(), ATTN_F32, static_cast<char *>(normed(r)) + row, weights_.output(),
                 some, static_cast<int>(shape_.vocab), static_cast<int>(shape_.width));
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
        begin_layer(0, r, norm(r, nullptr, weights_.layer(0).attn_norm));
    const uint32_t last = shape_.layers - 1;
    for (uint32_t layer = 0; layer < last; layer++) {
        attend(layer, count);
        for (const rows &r : chunks)
            begin_layer(layer + 1, r, end_layer(layer, r));
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
        begin_layer(0, {0, count}, norm({0, count}, nullptr, weights_.layer(0).attn_norm));
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
