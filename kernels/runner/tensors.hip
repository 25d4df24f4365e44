#include "base/numbers.h"
#include "runner/tensors.h"

namespace
{
constexpr size_t guard_bytes = 4096;
constexpr int fill_threads = 128;
#if defined(KS_PLATFORM_CPU)
constexpr unsigned fill_blocks = 8; // starting a thread takes as long as making several numbers
#else
constexpr unsigned fill_blocks = 512;
#endif

// The i-th standard normal number of a stream, by Box-Muller.
__device__ float normal(uint64_t stream, uint64_t i)
{
    const uint64_t random = seeded_hash(seeded_hash(stream) + i);
    const float u = (static_cast<float>(random >> 40) + 0.5f) * 5.9604644775390625e-8f;
    const float v = static_cast<float>(random & 0xffffffu) * 5.9604644775390625e-8f;
    return sqrtf(-2.0f * logf(u)) * cosf(6.283185307179586f * v);
}

__global__ void fill_normal(void *to, size_t count, attn_dtype dtype, uint64_t stream)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
        const float x = normal(stream, i);
        if (dtype == ATTN_F32)
            static_cast<float *>(to)[i] = x;
        else
            static_cast<uint16_t *>(to)[i] = dtype == ATTN_F16 ? f16_of_f32(x) : bf16_of_f32(x);
    }
}

__global__ void fill_words(uint32_t *to, size_t count, uint32_t word)
{
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = word;
}

dim3 fill_grid(size_t count)
{
    const size_t blocks = (count + fill_threads - 1) / fill_threads;
    return dim3(blocks < fill_blocks ? static_cast<unsigned>(blocks) : fill_blocks);
}

void fill_tensor(void *to, size_t count, attn_dtype dtype, uint64_t stream)
{
    hipLaunchKernelGGL(fill_normal, fill_grid(count), dim3(fill_threads), 0, nullptr, to, count, dtype,
                       stream);
    hip_check(hipGetLastError(), "cannot fill the inputs");
}

std::vector<unsigned char> to_host(const device_memory &from, size_t bytes)
{
    std::vector<unsigned char> host(bytes);
    hip_check(hipMemcpy(host.data(), from.get(), bytes, hipMemcpyDeviceToHost), "cannot copy to the host");
    return host;
}

size_t query_bytes(const attn_shape &shape)
{
    return query_elements(shape) * dtype_bytes(shape.dtype);
}

size_t key_bytes(const attn_shape &shape)
{
    return key_elements(shape) * dtype_bytes(shape.dtype);
}

size_t scratch_bytes(const attn_shape &shape, const attn_variant &variant)
{
    return variant.scratch_bytes ? variant.scratch_bytes(shape) : 0;
}
} // namespace

size_t query_elements(const attn_shape &s)
{
    return static_cast<size_t>(s.batch) * s.seq * s.q_heads * s.head_dim;
}

size_t key_elements(const attn_shape &s)
{
    return static_cast<size_t>(s.batch) * s.seq * s.kv_heads * s.head_dim;
}

size_t tensors::bytes(const attn_shape &shape, const attn_variant &variant)
{
    return 2 * query_bytes(shape) + 2 * key_bytes(shape) + guard_bytes + scratch_bytes(shape, variant);
}

tensors::tensors(const attn_shape &shape, const attn_variant &variant)
    : shape_(shape), q_(query_bytes(shape)), k_(key_bytes(shape)), v_(key_bytes(shape)),
      o_(query_bytes(shape) + guard_bytes), scratch_(scratch_bytes(shape, variant))
{
}

void tensors::fill(uint64_t seed)
{
    fill_tensor(q_.get(), query_elements(shape_), shape_.dtype, 3 * seed);
    fill_tensor(k_.get(), key_elements(shape_), shape_.dtype, 3 * seed + 1);
    fill_tensor(v_.get(), key_elements(shape_), shape_.dtype, 3 * seed + 2);
}

void tensors::poison()
{
    const size_t words = (query_bytes(shape_) + guard_bytes) / sizeof(uint32_t);
    hipLaunchKernelGGL(fill_words, fill_grid(words), dim3(fill_threads), 0, nullptr,
                       static_cast<uint32_t *>(o_.get()), words, poison_word);
    hip_check(hipGetLastError(), "cannot poison the output");
}

attn_args tensors::args() const
{
    return {shape_,
            q_.get(),
            k_.get(),
            v_.get(),
            o_.get(),
            scratch_.get(),
            1.0f / sqrtf(static_cast<float>(shape_.head_dim))};
}

tensors::host_copy tensors::copy() const
{
    return {to_host(q_, query_bytes(shape_)), to_host(k_, key_bytes(shape_)), to_host(v_, key_bytes(shape_)),
            to_host(o_, query_bytes(shape_) + guard_bytes)};
}
