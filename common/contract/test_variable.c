#include "common/contract/test_variable.h"

#include <stddef.h>
#include <string.h>

static const char *const prefixes[] = {
    "HIP_",    "AMD_",    "HSA_",     "ROCR_",  "ROC_",           "ROCM_",    "ROCBLAS_",  "HIPBLASLT_",
    "ROCP_",   "MIOPEN_", "TENSILE_", "CUDA_",  "CUBLAS_",        "CUDNN_",   "NVIDIA_",   "NCCL_",
    "RCCL_",   "UCX_",    "OMP_",     "GOMP_",  "KMP_",           "MKL_",     "OPENBLAS_", "LD_",
    "MALLOC_", "GLIBC_",  "TRITON_",  "TORCH_", "TORCHINDUCTOR_", "PYTORCH_", "XLA_",      "JAX_",
    "VLLM_",   "SGLANG_", "AITER_",   "GPU_",   "GGML_"};

bool test_variable_matters(const char *name)
{
    size_t len = strlen(name);
    static const char devices[] = "_VISIBLE_DEVICES";
    if (strcmp(name, "GPU_DEVICE_ORDINAL") == 0 ||
        (len >= sizeof devices && strcmp(name + len - (sizeof devices - 1), devices) == 0))
        return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

bool test_variable_is_private(const char *name)
{
    static const char *const parts[] = {"KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

bool test_variable_slows(const char *name, const char *value)
{
    static const char *const slow[] = {"HIP_LAUNCH_BLOCKING",
                                       "CUDA_LAUNCH_BLOCKING",
                                       "AMD_SERIALIZE_KERNEL",
                                       "AMD_SERIALIZE_COPY",
                                       "AMD_LOG_LEVEL",
                                       "HSA_TOOLS_LIB",
                                       "ROCP_TOOL_LIB",
                                       "CUDA_INJECTION64_PATH",
                                       "PYTORCH_NO_CUDA_MEMORY_CACHING",
                                       "PYTORCH_NO_HIP_MEMORY_CACHING"};
    if (!value[strspn(value, "0")]) /* unset or 0 is off for all of them */
        return false;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (strcmp(name, slow[i]) == 0)
            return true;
    return false;
}
