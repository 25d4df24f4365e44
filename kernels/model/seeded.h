// Seeded weights: element i of a tensor is a function of seed and i, so that a file (make-model, on the host)
// and weights generated in place (--synthetic, on a device) hold the same numbers, whatever the order of
// generation. Integer arithmetic and one exact product, so that no compiler's fused or reordered operations
// change the result. Nearly normally distributed (the sum of four uniform numbers); matrices preserve the
// variance of their input.
#pragma once

#include "base/numbers.h"
#include "device/device.h"
#include "model/shape.h"

#include <cmath>

struct seeded_tensor {
    uint64_t key;
    int32_t centre; // in units of `unit`
    float unit;     // has 5 significant bits; its factors have 19
};

// Four uniform 16-bit numbers less their mean; the standard deviation is seeded_noise_std.
constexpr double seeded_noise_std = 37837.2; // sqrt(4 * (2^32 - 1) / 12)

__host__ __device__ inline float seeded_value(const seeded_tensor &tensor, uint64_t i)
{
    const uint64_t bits = seeded_hash(tensor.key + i);
    const uint64_t sum = (bits & 0xffffu) + (bits >> 16 & 0xffffu) + (bits >> 32 & 0xffffu) + (bits >> 48);
    return static_cast<float>(tensor.centre + (static_cast<int32_t>(sum) - 2 * 0xffff)) * tensor.unit;
}

// Rounds to 5 significant bits, an error of at most 3 %.
inline float seeded_unit(double x)
{
    int exponent;
    const double mantissa = std::frexp(x, &exponent);
    return static_cast<float>(std::ldexp(std::round(mantissa * 32), exponent - 5));
}

// Norm factors vary around 1, so that omitting one shows. Contributions to the residual stream shrink with
// the number of layers. Logits have a standard deviation of about 4, so that the best token does not depend
// on rounding.
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
