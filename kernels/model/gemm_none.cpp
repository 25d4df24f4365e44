// Stands in for the library when none was installed at build time.
#include "base/failure.h"
#include "model/gemm.h"

const char *gemm::library()
{
    return "none";
}

size_t gemm::workspace_bytes()
{
    return 0;
}

gemm::gemm(bool) : workspace_(0)
{
    bad_input(
        "this build has no library for matrix products, so it cannot run a model: install " KS_GEMM_MISSING
        " and build again");
}

gemm::~gemm() = default;

void gemm::multiply(void *, attn_dtype, const void *, const void *, attn_dtype, int, int, int)
{
}
