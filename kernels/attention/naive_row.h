// Attention of one query by one thread, with K and V read from global memory: the inner loop of baseline and
// serial_bh. The accumulator is indexed at run time, so the compiler places it in scratch (local memory) and
// every key costs head_dim loads and stores. Deliberately kept that way: it is the kernel that was measured.
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
