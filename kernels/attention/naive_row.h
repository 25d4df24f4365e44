// Attention of one query by one thread, K and V straight from global memory: what baseline and serial_bh do.
// The accumulator is an array indexed at run time, so the compiler puts it into scratch: every key costs
// head_dim loads and stores of memory that was meant to be registers. Kept so: it is what was measured.
#pragma once

#include "attention/layout.h"
#include "attention/online_softmax.h"

constexpr int naive_max_head_dim = 128;

__device__ inline void naive_row(const f32_tensors &t, int batch, int row, int head, int head_dim)
{
    const float *q = t.q + t.query(batch, row, head, head_dim);
    float o[naive_max_head_dim];
    for (int d = 0; d < head_dim; d++)
        o[d] = 0.0f;
    online_softmax softmax;
    const int keys = t.keys_of(row);
    for (int key = 0; key < keys; key++) {
        const size_t at = t.key(batch, key, head, head_dim);
        float score = 0.0f;
        for (int d = 0; d < head_dim; d++)
            score += q[d] * t.k[at + d];
        softmax.add(score * t.scale);
        for (int d = 0; d < head_dim; d++)
            o[d] = o[d] * softmax.keep + softmax.weight * t.v[at + d];
    }
    float *out = t.o + t.query(batch, row, head, head_dim);
    for (int d = 0; d < head_dim; d++)
        out[d] = o[d] / softmax.sum;
}
