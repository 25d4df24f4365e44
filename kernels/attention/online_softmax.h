// The running softmax of one query: keys come one at a time and no score is kept.
#pragma once

#include "device/device.h"

struct online_softmax {
    float max = -INFINITY;
    float sum = 0.0f;
    float keep = 0.0f;   // what the last key left of everything added before it
    float weight = 0.0f; // the last key's own

    __device__ void add(float score)
    {
        const float new_max = fmaxf(max, score);
        keep = expf(max - new_max);
        weight = expf(score - new_max);
        sum = sum * keep + weight;
        max = new_max;
    }
};
