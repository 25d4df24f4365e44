// The interface of an attention variant, and the table of those compiled in.
// A variant is one .hip file that defines `attn_variant attn_NAME()`, and one line in variants.def.
// Every variant supports causal and full attention, grouped queries, and sequences of any length from 1.
// Knows nothing of where the tensors come from or how launches are timed.
//
// Layouts: Q and O are [batch, seq, q_heads, head_dim], K and V are [batch, seq, kv_heads, head_dim], dense.
// Query head h reads key/value head h / (q_heads / kv_heads). O has the type of the inputs.
#pragma once

#include "attention/dtype.h"
#include "device/device.h"

#include <cstddef>
#include <vector>

struct attn_shape {
    int batch, seq, q_heads, kv_heads, head_dim;
    bool causal;
    attn_dtype dtype;
};

struct attn_args {
    attn_shape shape;
    const void *q, *k, *v;
    void *o;
    void *scratch; // scratch_bytes() of it
    float scale;   // of q.k, before the softmax
};

// How a variant launches a shape; printed as evidence beside its time.
struct attn_geometry {
    dim3 grid, block;
    size_t shared_bytes;    // dynamic LDS or shared memory per block
    unsigned query_threads; // threads per block that compute; the others only load
    unsigned kv_passes = 1; // how often K is read and all scores are computed
};

struct attn_variant {
    const char *name;      // in plans and on the command line
    const char *attn_impl; // reported with the timings
    const char *idea;
    unsigned dtypes;    // 1u << attn_dtype, or'ed
    bool deterministic; // the same inputs give the same bits
    attn_geometry (*geometry)(const attn_shape &shape);
    size_t (*scratch_bytes)(const attn_shape &shape); // enough for any shorter seq too; null: none
    hipError_t (*launch)(const attn_args &args, hipStream_t stream);
};

// The variants compiled in, in the order of variants.def.
const std::vector<attn_variant> &attn_variants();

// By name or attn_impl; null when it is not compiled in.
const attn_variant *attn_find(const char *name);

// Whether the project has a variant of this name, compiled in or not.
bool attn_known(const char *name);
