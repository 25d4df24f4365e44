// The online softmax of one query: one key at a time, no score is stored.
#pragma once

#include "device/device.h"

struct online_softmax {
    float max = -INFINITY;
    float sum = 0.0f;
    float keep = 0.0f;   // rescale factor for everything accumulated before the last key
    float weight = 0.0f; // of the last key

    __device__ void add(float score)
    {
        const float new_max = fmaxf(max, score);
        keep = expf(max - new_max);
        weight = expf(score - new_max);
        sum = sum * keep + weight;
        max = new_max;
    }
};
