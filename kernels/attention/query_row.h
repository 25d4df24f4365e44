// One query per thread against tiles of K and V in LDS, with the accumulator in registers: the inner loop of
// fa1_serial_kv and fa2_split_kv. Q is transposed in LDS, so that neighbouring threads read neighbouring
// words.
#pragma once

#include "attention/layout.h"
#include "attention/online_softmax.h"

template <int HEAD_DIM, int ROWS> struct query_row {
    online_softmax softmax;
    float o[HEAD_DIM];

    __device__ query_row()
    {
#pragma unroll
        for (int d = 0; d < HEAD_DIM; d++)
            o[d] = 0.0f;
    }

    // `q_column`: this query's column of the transposed tile. The query sees the first `count` keys of the
    // tiles.
    __device__ void attend(const float *q_column, const float *k_tile, const float *v_tile, int count,
                           float scale)
    {
        for (int key = 0; key < count; key++) {
            float score = 0.0f;
#pragma unroll 16
            for (int d = 0; d < HEAD_DIM; d++)
                score += q_column[d * ROWS] * k_tile[key * HEAD_DIM + d];
            softmax.add(score * scale);
#pragma unroll
            for (int d = 0; d < HEAD_DIM; d++)
                o[d] = o[d] * softmax.keep + softmax.weight * v_tile[key * HEAD_DIM + d];
        }
    }
};

// Stages Q of rows [first, first + ROWS) in LDS as [HEAD_DIM][ROWS]; zeros beyond the sequence.
template <int HEAD_DIM, int ROWS>
__device__ void stage_transposed(float *lds, const f32_tensors &t, int batch, int first, int head)
{
    for (int i = threadIdx.x; i < ROWS * HEAD_DIM; i += blockDim.x) {
        const int row = i / HEAD_DIM, d = i % HEAD_DIM;
        lds[d * ROWS + row] =
            first + row < t.seq ? t.q[t.query(batch, first + row, head, HEAD_DIM) + d] : 0.0f;
    }
}
