#!/usr/bin/env bash
# A model's products on AMD are hipBLAS's. Few machines that build this have it: what calls it must compile all the same, and a
# build without it must say so.
# unsanitized: compilers for GPUs only
. tests/lib.sh

command -v hipcc >/dev/null || skip_all "hipcc is not installed (scripts/install-deps gpu)"

# hipcc finds an installed one by itself; the stand-in is a header only.
include="-isystem $PWD/tests/fixtures/hipblas"
for root in "${ROCM_PATH:-/opt/rocm}" /usr; do
    [ ! -f "$root/include/hipblas/hipblas.h" ] || include=
done

# Objects of a folder of their own: another library rebuilds a folder.
with_hipblas() {
    local gemm=$TMPDIR/with/model/gemm_gpu.cpp.o
    CPPFLAGS=$include exits "the products compile" 0 \
        make -C kernels PLATFORM=amd ARCH=gfx90a WERROR=1 gemm=gpu BUILD="$TMPDIR/with" "$gemm"
    like "the object calls hipBLAS" "$(nm -u "$gemm")" 'hipblasGemmEx'
}

# Debian's packages are in /usr/include, not under ROCM_PATH: whatever the compiler finds is used.
hipblas_beside_rocm() {
    CPPFLAGS="-isystem $PWD/tests/fixtures/hipblas" exits "make exits 0" 0 \
        make -n -C kernels PLATFORM=amd ARCH=gfx90a rocm="$TMPDIR/no-rocm" BUILD="$TMPDIR/beside" prefill
    is "no line says that it is missing" "$(grep -c '^no hipBLAS' <<<"$OUT")" 0
    like "the products are built" "$OUT" 'model/gemm_gpu.cpp'
    like "the program is linked with it" "$OUT" '/prefill .* -lhipblas'
    is "no folder of ROCM_PATH is searched" "$(grep -c 'no-rocm/lib' <<<"$OUT")" 0
}

without_hipblas() {
    exits "make exits 0" 0 make -n -C kernels PLATFORM=amd ARCH=gfx90a gemm= BUILD="$TMPDIR/without" prefill
    is "one line names the package to install" \
        "$(grep -c '^no hipBLAS (ROCm: hipblas-dev; Debian: libhipblas-dev; elsewhere: set ROCM_PATH): prefill is built, but cannot run models$' <<<"$OUT")" 1
    like "the stand-in without products is built" "$OUT" 'model/gemm_none.cpp'
}

scenario "a build for AMD with hipBLAS" with_hipblas
scenario "a build for AMD with hipBLAS where the compiler looks" hipblas_beside_rocm
scenario "a build for AMD without hipBLAS" without_hipblas
done_testing
