// The forward pass of a llama model: prefills a prompt with a variant's attention, then decodes token by
// token. The residual stream is in fp32, other activations have the weights' type, and q, k, v and the cache
// have a type that the variant supports. Rows are processed in chunks, so that only the residual stream, q,
// the attention's output and the cache grow with the prompt; nothing is quadratic in it. Where they fit, a
// chunk's normalised rows share the buffer of the attention's output, and its additions to the stream that of
// q. After the last layer's attention only the last row continues, unless all logits are wanted. Per layer,
// the cache holds K and V in the variants' layout: [position, kv_heads, head_dim]. Calls only enqueue work,
// except those that return results. Throws struct failure.
#pragma once

#include "model/fused.h"
#include "model/gemm.h"
#include "model/stages.h"
#include "model/weights.h"

#include <functional>
#include <memory>
#include <string>

struct forward_options {
    const attn_variant *variant;
    int prompt;     // tokens of the longest prompt
    int capacity;   // positions in the cache: prompt plus decoded tokens
    int chunk;      // rows per GEMM
    int logit_rows; // rows of logits computed at a time; 1 unless all are wanted
    bool deterministic;
};

struct forward_memory {
    size_t weights, cache, scratch; // scratch: everything else, including the variant's and the library's
    size_t total() const
    {
        return weights + cache + scratch;
    }
};

// Receives the logits of `rows` rows, in host memory.
using logits_sink = std::function<void(const float *logits, int rows)>;

// The type of a variant's inputs in a model of `type`: the same if supported, else f32, else f16.
attn_dtype attention_type(const attn_variant &variant, attn_dtype type);

class forward
{
  public:
    // "" if the variant supports a model of this shape, else the reason why not.
    static std::string problem(const model_shape &shape, const attn_variant &variant);
    static forward_memory memory(const model_shape &shape, attn_dtype type, const forward_options &options);
    // A number of rows per GEMM that is fast and costs little memory. It is larger where products are fused,
    // which need no buffer for the widest rows.
    static int best_chunk(const model_shape &shape, attn_dtype type, const attn_variant &variant);

    // `weights` must outlive the object.
    forward(const model_weights &weights, const forward_options &options);
    ~forward();
    forward(const forward &) = delete;
    forward &operator=(const forward &) = delete;

    // Launches every kernel that a prompt of options.prompt tokens needs once, so that no first launch is
    // timed.
    void warm_up();
    // Starts from an empty cache. The clock and the sink (which gets every row's logits) may be null.
    void prefill(const std::vector<uint32_t> &ids, stage_clock *clock, const logits_sink &sink);
    // Appends one token to the cache.
    void decode(uint32_t id);

    // At the last position: choose() returns the most likely token, logits() all logits.
    uint32_t choose();
    std::vector<float> logits() const;

    // Floating-point operations of the matrix products of the last prefill or decoding step.
    double product_flops() const
    {
        return product_flops_;
    }
    // Whether GEMMs with epilogues (fused.h) have been used so far.
    bool fused_products() const
    {
        return fused_products_;
    }

  private:
    struct buffers;
    struct rows { // of the current pass
        int first, count;
    };
    void run(const std::vector<uint32_t> &ids, const logits_sink &sink);
    // The input rows of a product: normalised, or still to be divided by norms.
    struct normed_rows {
        const void *x;
        row_norms norms;
    };
    void begin_layer(uint32_t layer, const rows &r, const normed_rows &in);
    void attend(uint32_t layer, int count);
    normed_rows end_layer(uint32_t layer, const rows &r);
    void finish(const rows &r, bool last, const logits_sink &sink);
    void all_logits(const rows &r, const logits_sink &sink);
    normed_rows norm(const rows &r, const void *delta, const float *weight);
    normed_rows add(const rows &r, void *fused_to, const void *x, const void *w, int in, const float *weight,
                    bool fused);
    bool takes_gate_up(int rows) const;
    bool takes_qkv(int rows) const;
    void multiply(void *y, attn_dtype y_type, const void *x, const void *w, int rows, int out, int in);
    void count_product(int rows, int out, int in);
    void enter(stage next);
    void *cached(uint32_t layer, int kv, int position) const;
    bool has_room(int rows, int width) const;
    float *stream(const rows &r) const;
    void *normed(const rows &r) const;
    void *delta(const rows &r) const;

    const model_weights &weights_;
    model_shape shape_;
    forward_options options_;
    attn_dtype type_, attn_type_;
    int query_width_, key_width_;
    gemm products_;
    std::unique_ptr<buffers> memory_;
    stage_clock *clock_ = nullptr;
    int position_ = 0; // tokens in the cache
    double product_flops_ = 0;
    bool fused_products_ = false;
};
