// Seeded weights: element i of a tensor under a seed, from a counter, so that a file (make-model, on the
// host) and weights made in place (--synthetic, on a device) hold the same numbers, in any order of making.
// Whole-number arithmetic and one product that is exact, so that no compiler's fused or reordered sums change
// it. Nearly normal (the sum of four uniform numbers); matrices keep the variance of what they multiply.
#pragma once

#include "base/numbers.h"
#include "device/device.h"
#include "model/shape.h"

#include <cmath>

struct seeded_tensor {
    uint64_t key;
    int32_t centre; // in units of `unit`
    float unit;     // 5 significant bits; the numbers it multiplies have 19
};

// Four uniform 16-bit numbers less their mean; the standard deviation is seeded_noise_std.
constexpr double seeded_noise_std = 37837.2; // sqrt(4 * (2^32 - 1) / 12)

__host__ __device__ inline float seeded_value(const seeded_tensor &tensor, uint64_t i)
{
    const uint64_t bits = seeded_hash(tensor.key + i);
    const uint64_t sum = (bits & 0xffffu) + (bits >> 16 & 0xffffu) + (bits >> 32 & 0xffffu) + (bits >> 48);
    return static_cast<float>(tensor.centre + (static_cast<int32_t>(sum) - 2 * 0xffff)) * tensor.unit;
}

// The nearest number of 5 significant bits: 3 % off at most.
inline float seeded_unit(double x)
{
    int exponent;
    const double mantissa = std::frexp(x, &exponent);
    return static_cast<float>(std::ldexp(std::round(mantissa * 32), exponent - 5));
}

// Norm factors are around 1, so that leaving one out shows. What is added to the residual stream is smaller
// the more layers add to it. Logits have a deviation of about 4, so that the best token is not a matter of
// rounding.
inline seeded_tensor seeded_weights(const tensor_spec &spec, const model_shape &shape, uint64_t seed)
{
    const uint64_t id = static_cast<uint64_t>(spec.role) << 32 | spec.layer;
    const uint64_t key = seeded_hash(seeded_hash(seed) ^ id);
    const double unit = 1 / seeded_noise_std;
    if (role_is_norm(spec.role))
        return {key, static_cast<int32_t>(std::lround(1 / seeded_unit(unit / 10))), seeded_unit(unit / 10)};
    double deviation = 1 / std::sqrt(static_cast<double>(spec.cols));
    if (spec.role == ROLE_EMBEDDING)
        deviation = 1;
    else if (spec.role == ROLE_OUTPUT)
        deviation *= 4;
    else if (spec.role == ROLE_WO || spec.role == ROLE_DOWN)
        deviation /= std::sqrt(2.0 * shape.layers);
    return {key, 0, seeded_unit(deviation * unit)};
}
