// cuBLAS and hipBLAS, whose APIs differ only in names. Both are column-major: y^T = (W^T)^T x^T.
#include "base/failure.h"
#include "model/gemm.h"

#if defined(KS_PLATFORM_NVIDIA)
#include <cublas_v2.h>
#define BLAS(name) cublas##name
#define BLAS_CONSTANT(name) CUBLAS_##name
#define BLAS_TYPE(name) CUDA_##name
#define BLAS_BF16 CUDA_R_16BF
#define BLAS_IN_F32 CUBLAS_COMPUTE_32F
#else
#define HIPBLAS_V2 // argument types as in HIP, not hipBLAS's older ones
#include <hipblas/hipblas.h>
#define BLAS(name) hipblas##name
#define BLAS_CONSTANT(name) HIPBLAS_##name
#if hipblasVersionMajor >= 2 // ROCm 6
#define BLAS_TYPE(name) HIP_##name
#define BLAS_BF16 HIP_R_16BF
#define BLAS_IN_F32 HIPBLAS_COMPUTE_32F
#else
#define BLAS_TYPE(name) HIPBLAS_##name
#define BLAS_BF16 HIPBLAS_R_16B
#define BLAS_IN_F32 HIPBLAS_R_32F
#endif
#endif

namespace
{
void blas_check(BLAS(Status_t) status, const char *doing)
{
    if (status != BLAS_CONSTANT(STATUS_SUCCESS))
        throw failure{EXIT_FAILED, std::string(gemm::library()) + " cannot " + doing + ": status " +
                                       std::to_string(static_cast<int>(status))};
}

auto blas_type(attn_dtype type)
{
    switch (type) {
    case ATTN_F32:
        break;
    case ATTN_F16:
        return BLAS_TYPE(R_16F);
    case ATTN_BF16:
        return BLAS_BF16;
    }
    return BLAS_TYPE(R_32F);
}
} // namespace

const char *gemm::library()
{
#if defined(KS_PLATFORM_NVIDIA)
    return "cuBLAS";
#else
    return "hipBLAS";
#endif
}

size_t gemm::workspace_bytes()
{
#if defined(KS_PLATFORM_NVIDIA)
    return 32u << 20; // NVIDIA's recommendation for Hopper
#else
    return 0; // hipBLAS manages its own
#endif
}

gemm::gemm(bool deterministic) : workspace_(workspace_bytes())
{
    BLAS(Handle_t) handle;
    blas_check(BLAS(Create)(&handle), "start");
    handle_ = handle;
    blas_check(BLAS(SetAtomicsMode)(handle, deterministic ? BLAS_CONSTANT(ATOMICS_NOT_ALLOWED)
                                                          : BLAS_CONSTANT(ATOMICS_ALLOWED)),
               "choose whether to be deterministic");
#if defined(KS_PLATFORM_NVIDIA)
    // With a workspace of its own, cuBLAS also chooses the same kernel every time.
    blas_check(cublasSetWorkspace(handle, workspace_.get(), workspace_bytes()), "take its workspace");
#endif
}

gemm::~gemm()
{
    if (handle_)
        (void)BLAS(Destroy)(static_cast<BLAS(Handle_t)>(handle_));
}

void gemm::multiply(void *y, attn_dtype y_type, const void *x, const void *w, attn_dtype type, int rows,
                    int out, int in)
{
    const float one = 1.0f, zero = 0.0f;
    blas_check(BLAS(GemmEx)(static_cast<BLAS(Handle_t)>(handle_), BLAS_CONSTANT(OP_T), BLAS_CONSTANT(OP_N),
                            out, rows, in, &one, w, blas_type(type), in, x, blas_type(type), in, &zero, y,
                            blas_type(y_type), out, BLAS_IN_F32, BLAS_CONSTANT(GEMM_DEFAULT)),
               "multiply");
}
