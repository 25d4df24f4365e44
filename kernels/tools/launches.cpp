// launches: records the launch parameters of every variant compiled in, without a GPU or its runtime. Defines
// the functions that compiled code calls to register and launch kernels; they record which kernel is launched
// how. Prints one JSON object per launched kernel and line: its mangled name, threads and dynamic LDS per
// block, and, for the kernel that the variant's geometry describes, the threads that compute and how often K
// or V is read. Linked instead of libamdhip64 or libcudart; no other functions of theirs are called.
#include "attention/attention.h"
#include "base/json_line.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace
{
struct launch {
    std::string kernel;
    dim3 grid, block;
    size_t lds_bytes;
};

std::map<const void *, std::string> &kernel_names() // filled before main
{
    static std::map<const void *, std::string> names;
    return names;
}

std::vector<launch> launches;
launch pending;

void record_launch(const void *kernel, dim3 grid, dim3 block, size_t lds_bytes)
{
    const auto name = kernel_names().find(kernel);
    launches.push_back({name == kernel_names().end() ? "" : name->second, grid, block, lds_bytes});
}

constexpr int device_units = 128; // SMs or CUs

unsigned volume(const dim3 &d)
{
    return d.x * d.y * d.z;
}

// The tensors are never read: any aligned address will do.
attn_args arguments_of(const attn_shape &shape)
{
    alignas(256) static char tensor[256];
    return {shape, tensor, tensor, tensor, tensor, tensor, 0.125f};
}

void print(const attn_variant &variant, const attn_shape &shape)
{
    const attn_geometry g = variant.geometry(shape);
    launches.clear();
    if (variant.launch(arguments_of(shape), nullptr) != hipSuccess)
        std::fprintf(stderr, "launches: %s rejects a shape that it claims to support\n", variant.name);
    for (const launch &l : launches) {
        json_line line;
        line.add("variant", variant.name).add("kernel", l.kernel).add("block_threads", volume(l.block));
        line.add("lds_dynamic_bytes", l.lds_bytes);
        if (volume(g.grid) == volume(l.grid) && volume(g.block) == volume(l.block))
            line.add("query_threads", g.query_threads).add("kv_passes", g.kv_passes);
        std::printf("%s\n", line.str().c_str());
    }
}
} // namespace

extern "C" {
#if defined(KS_PLATFORM_AMD)
// Where a host-only compilation expects the code objects.
char __hip_fatbin_[64];
void *__hip_gpubin_handle_;

void **__hipRegisterFatBinary(const void *)
{
    static void *handle;
    return &handle;
}
void __hipUnregisterFatBinary(void **)
{
}
void __hipRegisterFunction(void **, const void *kernel, char *, const char *name, unsigned, void *, void *,
                           void *, void *, int *)
{
    kernel_names()[kernel] = name;
}
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds_bytes, hipStream_t)
{
    pending = {"", grid, block, lds_bytes};
    return hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds_bytes, hipStream_t *stream)
{
    *grid = pending.grid;
    *block = pending.block;
    *lds_bytes = pending.lds_bytes;
    *stream = nullptr;
    return hipSuccess;
}
hipError_t hipLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **, size_t lds_bytes, hipStream_t)
{
    record_launch(kernel, grid, block, lds_bytes);
    return hipSuccess;
}
hipError_t hipFuncSetAttribute(const void *, hipFuncAttribute, int)
{
    return hipSuccess;
}
hipError_t hipMemsetAsync(void *, int, size_t, hipStream_t)
{
    return hipSuccess;
}
hipError_t hipGetLastError(void)
{
    return hipSuccess;
}
hipError_t hipGetDevice(int *device)
{
    *device = 0;
    return hipSuccess;
}
hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t, int)
{
    *value = device_units;
    return hipSuccess;
}
#else
void **__cudaRegisterFatBinary(void *)
{
    static void *handle;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **)
{
}
void __cudaUnregisterFatBinary(void **)
{
}
void __cudaRegisterFunction(void **, const char *kernel, char *, const char *name, int, uint3 *, uint3 *,
                            dim3 *, dim3 *, int *)
{
    kernel_names()[kernel] = name;
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t lds_bytes, CUstream_st *)
{
    pending = {"", grid, block, lds_bytes};
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *lds_bytes, void *stream)
{
    *grid = pending.grid;
    *block = pending.block;
    *lds_bytes = pending.lds_bytes;
    *static_cast<void **>(stream) = nullptr;
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *kernel)
{
    *out = static_cast<cudaKernel_t>(const_cast<void *>(kernel));
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **, size_t lds_bytes,
                               cudaStream_t)
{
    record_launch(kernel, grid, block, lds_bytes);
    return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **)
{
    record_launch(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes);
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int)
{
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t)
{
    return cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
// Reports the architecture that the kernels were compiled for.
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? KS_ARCH_MAJOR : device_units;
    return cudaSuccess;
}
int successful_driver_call(void)
{
    return 0;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char *, void **function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *result)
{
    *function = reinterpret_cast<void *>(&successful_driver_call);
    if (result)
        *result = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}
#endif
}

int main()
{
    for (const attn_variant &variant : attn_variants()) {
        for (const attn_dtype dtype : {ATTN_F32, ATTN_F16, ATTN_BF16}) {
            for (const int head_dim : {64, 128}) {
                if (!(variant.dtypes & 1u << dtype))
                    continue;
                // Long enough to avoid special cases for short inputs; v5 launches other kernels beyond 20480
                // tokens, for few heads, and without the causal mask.
                print(variant, {1, 4096, 32, 32, head_dim, true, dtype});
                print(variant, {1, 4096, 32, 32, head_dim, false, dtype});
                print(variant, {1, 32768, 32, 32, head_dim, true, dtype});
                print(variant, {1, 4096, 1, 1, head_dim, true, dtype});
            }
        }
    }
}
