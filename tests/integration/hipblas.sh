#!/usr/bin/env bash
# A model's products on AMD are hipBLAS's. Few machines that build this have it: what calls it must compile all the same, and a
# build without it must say so.
# timeout: 300
# unsanitized: compilers for GPUs only
. tests/lib.sh

command -v hipcc >/dev/null || skip_all "hipcc is not installed (scripts/install-deps gpu)"

# hipcc finds the real one by itself.
include="-isystem $PWD/tests/fixtures/hipblas" whose="a stand-in's header"
for root in "${ROCM_PATH:-/opt/rocm}" /usr; do
    [ ! -f "$root/include/hipblas/hipblas.h" ] || include='' whose="hipBLAS's own header"
done

# Objects of a folder of their own: another library rebuilds a folder.
gemm=$TMPDIR/with/model/gemm_gpu.cpp.o
CPPFLAGS=$include exits "the products compile for AMD, with $whose" 0 \
    make -C kernels PLATFORM=amd ARCH=gfx90a WERROR=1 gemm=gpu BUILD="$TMPDIR/with" "$gemm"
like "and call hipBLAS" "$(nm -u "$gemm")" 'hipblasGemmEx'

exits "without hipBLAS a build goes on" 0 make -n -C kernels PLATFORM=amd ARCH=gfx90a gemm= BUILD="$TMPDIR/without" prefill
is "and says in one line what to install" "$(grep -c '^no hipBLAS (ROCm: hipblas-dev; or set ROCM_PATH): prefill is built, but cannot run models$' <<<"$OUT")" 1
like "with what takes its place" "$OUT" 'model/gemm_none.cpp'
done_testing
