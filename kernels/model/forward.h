// The forward pass of a llama model: a prompt at once with a variant's attention, then token by token.
// The residual stream is of 32 bits; everything between is of the weights' type, and q, k, v and the cache
// are of what the variant takes. Rows go through in chunks, so that only the residual stream, q, the
// attention's output and the cache grow with the prompt; nothing is prompt x prompt. The cache is, a layer, K
// and V as the variants read them: [position, kv_heads, head_dim]. Calls enqueue; what returns numbers waits.
// Errors are thrown as struct failure.
#pragma once

#include "model/gemm.h"
#include "model/stages.h"
#include "model/weights.h"

#include <functional>
#include <memory>
#include <string>

struct forward_options {
    const attn_variant *variant;
    int prompt;     // tokens of the longest prompt
    int capacity;   // positions of the cache: the prompt, and what is decoded after it
    int chunk;      // rows that go through a layer's products together
    int logit_rows; // logits that are computed at a time; 1 unless all are wanted
    bool deterministic;
};

struct forward_memory {
    size_t weights, cache, scratch; // scratch: all else, the variant's and the library's included
    size_t total() const
    {
        return weights + cache + scratch;
    }
};

// Gets the logits of `rows` rows, host memory.
using logits_sink = std::function<void(const float *logits, int rows)>;

// The type that a variant's inputs have in a model of `type`: that one, else 32 bits, else f16.
attn_dtype attention_type(const attn_variant &variant, attn_dtype type);

class forward
{
  public:
    // "" when the variant can serve a model of this shape, else why not.
    static std::string problem(const model_shape &shape, const attn_variant &variant);
    static forward_memory memory(const model_shape &shape, attn_dtype type, const forward_options &options);

    // `weights` stay the caller's, and stay.
    forward(const model_weights &weights, const forward_options &options);
    ~forward();
    forward(const forward &) = delete;
    forward &operator=(const forward &) = delete;

    // Launches once whatever a prompt of options.prompt tokens will, so that a first launch's cost is past.
    void warm_up();
    // From an empty cache. The clock and the sink (every row's logits) may be null.
    void prefill(const std::vector<uint32_t> &ids, stage_clock *clock, const logits_sink &sink);
    // One more token, after those in the cache.
    void decode(uint32_t id);

    // Of the last position. choose(): the most likely token.
    uint32_t choose();
    std::vector<float> logits() const;

  private:
    struct buffers;
    struct rows { // of the pass that is under way
        int first, count;
    };
    void run(const std::vector<uint32_t> &ids, const logits_sink &sink);
    void begin_layer(uint32_t layer, const rows &r, const void *delta);
    void attend(uint32_t layer, int count);
    void end_layer(uint32_t layer, const rows &r);
    void finish(const rows &r, bool last, const logits_sink &sink);
    void all_logits(int count, const logits_sink &sink);
    void norm(const rows &r, const void *delta, const float *weight);
    void multiply(void *y, attn_dtype y_type, const void *x, const void *w, int rows, int out, int in);
    void enter(stage next);
    void *cached(uint32_t layer, int kv, int position) const;

    const model_weights &weights_;
    model_shape shape_;
    forward_options options_;
    attn_dtype type_, attn_type_;
    int query_width_, key_width_;
    gemm products_;
    std::unique_ptr<buffers> memory_;
    stage_clock *clock_ = nullptr;
    int position_ = 0; // tokens in the cache
};
