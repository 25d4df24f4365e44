// The device layer: indices, shared memory, barriers, shuffles, divisors, errors. The guarantees of the CPU
// device (a diverged barrier is reported instead of hanging) are tested only in builds for it.
#include "device/divisor.h"
#include "tests/device_array.h"
#include "tests/tap.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace
{
constexpr int threads = 96;

__global__ void reverse_block(const int *from, int *to)
{
    HIP_DYNAMIC_SHARED(int, tile)
    __shared__ int last[1];
    tile[threadIdx.x] = from[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x == blockDim.x - 1)
        last[0] = tile[threadIdx.x];
    __syncthreads();
    const int mirrored = tile[blockDim.x - 1 - threadIdx.x];
    to[blockIdx.x * blockDim.x + threadIdx.x] = mirrored + last[0];
}

__global__ void sum_groups_of_eight(const float *from, float *to)
{
    float x = from[threadIdx.x];
    for (int mask = 1; mask < 8; mask *= 2)
        x += __shfl_xor(x, mask, 8);
    to[threadIdx.x] = x;
}

__global__ void write_index(int *to)
{
    const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    to[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

__global__ void divide(const int *from, int *to, int count, divisor by)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        to[i] = by.quotient(from[i]);
}

void test_shared_memory(tap &t)
{
    std::vector<int> values(3 * threads), expected(values.size());
    for (int i = 0; i < 3 * threads; i++)
        values[i] = i * i;
    for (int block = 0; block < 3; block++) {
        for (int i = 0; i < threads; i++)
            expected[block * threads + i] =
                values[block * threads + threads - 1 - i] + values[block * threads + threads - 1];
    }
    const device_array<int> from(values), to(std::vector<int>(values.size(), -1));
    hipLaunchKernelGGL(reverse_block, dim3(3), dim3(threads), threads * sizeof(int), nullptr, from.get(),
                       to.get());
    hip_check(hipGetLastError(), "launch");
    t.check(to.host() == expected, "after a barrier, threads see what others stored in shared memory");
}

void test_shuffle(tap &t)
{
    std::vector<float> values(64), expected(64);
    for (int i = 0; i < 64; i++)
        values[i] = static_cast<float>(i);
    for (int i = 0; i < 64; i++)
        expected[i] = static_cast<float>(i / 8 * 64 + 28);
    const device_array<float> from(values), to(std::vector<float>(64, -1.0f));
    hipLaunchKernelGGL(sum_groups_of_eight, dim3(1), dim3(64), 0, nullptr, from.get(), to.get());
    hip_check(hipGetLastError(), "launch");
    t.check(to.host() == expected, "a shuffle exchanges values within groups of lanes");
}

void test_indices(tap &t)
{
    std::vector<int> expected(24 * 30);
    for (int block = 0; block < 24; block++) {
        for (int thread = 0; thread < 30; thread++)
            expected[block * 30 + thread] = block * 1000 + thread;
    }
    const device_array<int> to(std::vector<int>(expected.size(), -1));
    hipLaunchKernelGGL(write_index, dim3(2, 3, 4), dim3(5, 3, 2), 0, nullptr, to.get());
    hip_check(hipGetLastError(), "launch");
    t.check(to.host() == expected, "every thread of every block runs once with its own indices");
}

#if defined(KS_PLATFORM_CPU)
__global__ void barrier_in_a_branch()
{
    if (threadIdx.x < 24)
        __syncthreads();
}

__global__ void barrier_after_a_return(int limit)
{
    if (static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) > limit)
        return;
    __syncthreads();
}

__global__ void two_barriers()
{
    if (threadIdx.x % 32 < 16)
        __syncthreads();
    else
        __syncthreads();
}

__global__ void shuffle_in_a_branch(float *to)
{
    if (threadIdx.x != 5)
        *to = __shfl_xor(1.0f, 1, 32);
}

__global__ void read_fresh_lds(float *to)
{
    HIP_DYNAMIC_SHARED(float, lds)
    to[threadIdx.x] = lds[threadIdx.x];
}

__global__ void deep_stack(int *to)
{
    volatile char bytes[48 << 10];
    bytes[0] = 1;
    bytes[sizeof bytes - 1] = 2;
    __syncthreads();
    to[threadIdx.x] = bytes[0] + bytes[sizeof bytes - 1];
}

void expect_error(tap &t, const char *name, const std::vector<const char *> &parts)
{
    const hipError_t error = hipGetLastError();
    const std::string message = hipGetErrorString(error);
    bool all = error == hipErrorLaunchFailure && message.find('\n') == std::string::npos;
    for (const char *part : parts)
        all = all && message.find(part) != std::string::npos;
    t.check(all && hipGetLastError() == hipSuccess, name, message);
}

void test_divergence(tap &t)
{
    hipLaunchKernelGGL(barrier_in_a_branch, dim3(1), dim3(32), 0, nullptr);
    expect_error(t, "a barrier in a branch is reported with kernel, block, threads and line",
                 {"barrier_in_a_branch", "block (0,0,0)", "threads 0-23 wait",
                  "test_device.cpp:", "threads 24-31 returned"});
    hipLaunchKernelGGL(barrier_after_a_return, dim3(3), dim3(64), 0, nullptr, 150);
    expect_error(t, "a barrier after an early return is reported for the block where it happens",
                 {"barrier_after_a_return", "block (2,0,0)", "threads 0-22 wait", "threads 23-63 returned"});
    hipLaunchKernelGGL(two_barriers, dim3(1), dim3(64), 0, nullptr);
    expect_error(t, "barriers in two branches of one condition are reported as two barriers",
                 {"two_barriers", "threads 0-15 wait", "threads 16-31 wait"});
    const device_array<float> to(std::vector<float>(32, 0.0f));
    hipLaunchKernelGGL(shuffle_in_a_branch, dim3(1), dim3(32), 0, nullptr, to.get());
    expect_error(t, "a shuffle that not every lane of the wave reaches is reported",
                 {"threads 0-4 shuffle", "threads 5-5 returned"});
}

void test_limits(tap &t)
{
    hipLaunchKernelGGL(two_barriers, dim3(1), dim3(1025), 0, nullptr);
    expect_error(t, "a block of 1025 threads is refused", {"1024 threads"});
    hipLaunchKernelGGL(two_barriers, dim3(1, 70000), dim3(32), 0, nullptr);
    expect_error(t, "a grid of 70000 blocks in y is refused", {"65535"});
    hipLaunchKernelGGL(two_barriers, dim3(1), dim3(32), 65537, nullptr);
    expect_error(t, "a launch with 65537 bytes of dynamic shared memory is refused", {"65536 bytes"});
}

void test_memory(tap &t)
{
    const device_array<float> values(std::vector<float>(32, 0.0f));
    hipLaunchKernelGGL(read_fresh_lds, dim3(1), dim3(32), 128, nullptr, values.get());
    bool nan = hipGetLastError() == hipSuccess;
    for (const float x : values.host())
        nan = nan && std::isnan(x);
    t.check(nan, "uninitialised dynamic shared memory is NaN");

    const device_array<int> sums(std::vector<int>(64, 0));
    hipLaunchKernelGGL(deep_stack, dim3(1), dim3(64), 0, nullptr, sums.get());
    t.check(hipGetLastError() == hipSuccess && sums.host() == std::vector<int>(64, 3),
            "48 KiB of a thread's stack survive a barrier");
}
#endif

// Multiples of the divisor and their neighbours, where a wrong quotient shows first.
std::vector<int> dividends(int by)
{
    constexpr int64_t most = INT32_MAX;
    const int64_t last = most / by;
    std::vector<int> found = {0, INT32_MAX};
    for (const int64_t times :
         {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{1000}, last / 2, last - 1, last}) {
        for (int64_t n = times * by - 1; n <= times * by + 1; n++) {
            if (n >= 0 && n <= most)
                found.push_back(static_cast<int>(n));
        }
    }
    return found;
}

void test_divisor(tap &t)
{
    std::vector<int> divisors = {65535, 65536, 65537, 641, 6700417, INT32_MAX - 1, INT32_MAX};
    for (int by = 1; by <= 300; by++)
        divisors.push_back(by);
    for (int shift = 9; shift < 31; shift++)
        divisors.insert(divisors.end(), {(1 << shift) - 1, 1 << shift, (1 << shift) + 1});
    int wrong = 0;
    for (const int by : divisors) {
        const std::vector<int> values = dividends(by);
        std::vector<int> expected;
        for (const int n : values)
            expected.push_back(n / by);
        const device_array<int> from(values), to(std::vector<int>(values.size(), -1));
        hipLaunchKernelGGL(divide, dim3(1), dim3(32), 0, nullptr, from.get(), to.get(),
                           static_cast<int>(values.size()), divisor(by));
        hip_check(hipGetLastError(), "launch");
        wrong += to.host() != expected;
    }
    t.check(wrong == 0, "a prepared divisor gives the quotients of ordinary division");
}

void test_all(tap &t)
{
    test_indices(t);
    test_shared_memory(t);
    test_shuffle(t);
    test_divisor(t);
#if defined(KS_PLATFORM_CPU)
    test_divergence(t);
    test_limits(t);
    test_memory(t);
#endif
}
} // namespace

int main(int argc, char **argv)
{
    return run_tests("device layer", test_all, argc, argv);
}
