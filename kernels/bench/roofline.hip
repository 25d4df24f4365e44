#include "base/device_memory.h"
#include "base/device_room.h"
#include "base/timer.h"
#include "bench/matrix_peak.h"
#include "bench/roofline.h"
#include "bench/samples.h"
#include "device/pair.h"

#include <cmath>
#include <functional>

namespace
{
constexpr unsigned threads = 256;
constexpr unsigned blocks_per_unit = 8; // per CU or SM: enough waves to hide latency
constexpr int chains = 8;               // independent multiply-adds per thread, in pairs
constexpr int repeats = 5;

#if defined(KS_PLATFORM_CPU) // a few milliseconds each: a CPU's ceilings say nothing about a GPU
constexpr size_t largest_copy = 4u << 20;
constexpr int fma_rounds = 100;
constexpr int matrix_rounds = 1;
#else
constexpr size_t largest_copy = 1u << 30; // more than any last-level cache
constexpr int fma_rounds = 20000;
constexpr int matrix_rounds = 5000;
#endif

__global__ void copy_vectors(float4 *to, const float4 *from, size_t count)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = from[i];
}

__global__ void multiply_and_add(float *to, float factor, int rounds)
{
    ks_pair sums[chains];
#pragma unroll
    for (int i = 0; i < chains; i++)
        sums[i] = make_pair(static_cast<float>(threadIdx.x + i), 1.0f);
    const ks_pair by = make_pair(factor, factor);
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < chains; i++)
            sums[i] = multiply_add(sums[i], by, by);
    }
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < chains; i++)
        total += sums[i].x + sums[i].y;
    if (total == -1.0f) // never true, but keeps the compiler from eliminating the work
        to[0] = total;
}

// to: the operations per block and round.
__global__ void __launch_bounds__(matrix_peak::threads) multiply_matrices(double *to, int rounds)
{
    const matrix_peak::work done = matrix_peak::multiply(rounds);
    if (done.sum == -1.0f) // never true, as above
        to[1] = done.sum;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        to[0] = done.flops;
}

// The time of the fastest of a few launches, after an untimed one.
double fastest(const char *what, const std::function<void()> &launch)
{
    device_timer timer;
    samples times;
    for (int i = 0; i <= repeats; i++) {
        timer.start();
        launch();
        hip_check(hipGetLastError(), what);
        timer.stop();
        const double seconds = timer.seconds(what);
        if (i > 0)
            times.add(seconds);
    }
    return times.min();
}

double measure_copy(unsigned units)
{
    const size_t bytes = std::min(largest_copy, ask_device_room().free / 4) / sizeof(float4) * sizeof(float4);
    const device_memory from(bytes), to(bytes);
    const double seconds = fastest("cannot measure a copy", [&] {
        hipLaunchKernelGGL(copy_vectors, dim3(units * blocks_per_unit), dim3(threads), 0, nullptr,
                           static_cast<float4 *>(to.get()), static_cast<const float4 *>(from.get()),
                           bytes / sizeof(float4));
    });
    return 2.0 * static_cast<double>(bytes) / seconds;
}

double measure_fma(unsigned units)
{
    const device_memory unused(sizeof(float));
    const double seconds = fastest("cannot measure multiply-adds", [&] {
        hipLaunchKernelGGL(multiply_and_add, dim3(units * blocks_per_unit), dim3(threads), 0, nullptr,
                           static_cast<float *>(unused.get()), 0.5f, fma_rounds);
    });
    return 2.0 * 2 * chains * fma_rounds * threads * blocks_per_unit * units / seconds;
}

double measure_matrix(unsigned units)
{
    constexpr unsigned blocks = 4; // per CU or SM
    const device_memory flops(2 * sizeof(double));
    const double seconds = fastest("cannot measure matrix products", [&] {
        hipLaunchKernelGGL(multiply_matrices, dim3(units * blocks), dim3(matrix_peak::threads), 0, nullptr,
                           static_cast<double *>(flops.get()), matrix_rounds);
    });
    double a_round = 0.0;
    hip_check(hipMemcpy(&a_round, flops.get(), sizeof a_round, hipMemcpyDeviceToHost),
              "cannot read what matrix products were made");
    return a_round > 0.0 ? a_round * matrix_rounds * blocks * units / seconds : NAN;
}
} // namespace

roofline measure_roofline()
{
    hipDeviceProp_t device;
    hip_check(hipGetDeviceProperties(&device, 0), "cannot ask the device for its size");
    const auto units = static_cast<unsigned>(device.multiProcessorCount);
    return {measure_copy(units), measure_fma(units), measure_matrix(units)};
}
