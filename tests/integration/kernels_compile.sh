#!/usr/bin/env bash
# The kernels compile, without a warning, for every platform whose compiler is installed, so that no path rots.
# timeout: 900
# unsanitized: compilers for GPUs only
. tests/lib.sh

# A sanitizer build of kernsweep changes nothing here: both kinds share these objects.
KERNELS=${BUILD%/sanitize}/kernels

# compiles NAME PLATFORM ARCH FILE...: make leaves the files, none of them empty.
compiles() {
    local name=$1 dir=$KERNELS/$3 file rc=0 log
    log=$(make -C kernels PLATFORM="$2" ARCH="$3" WERROR=1 BUILD="$dir" 2>&1) || rc=$?
    shift 3
    for file; do [ -s "$dir/$file" ] || rc=1; done
    ok "$name" "$rc" "$(tail -n 30 <<<"$log")"
}

mapfile -t variants < <(sed -n 's/^VARIANT(\([a-z0-9_]*\))$/\1/p' kernels/attention/variants.def)

if command -v hipcc >/dev/null; then
    compiles "amd gfx90a: hipcc compiles and links" amd gfx90a prefill
else
    skip "amd gfx90a" "hipcc is not installed (scripts/install-deps gpu)"
fi

if ! command -v hipcc >/dev/null || ! command -v clang++-19 >/dev/null; then
    skip "amd gfx942" "hipcc or clang-19 is not installed (scripts/install-deps gpu)"
else
    compiles "amd gfx942: every variant compiles" amd gfx942 "${variants[@]/%/.hsaco}" ops.hsaco
    for variant in "${variants[@]}" ops; do
        like "amd gfx942: $variant is a code object for that GPU" \
            "$(llvm-readelf-19 --notes "$KERNELS/gfx942/$variant.hsaco" 2>&1)" 'amdgcn-amd-amdhsa--gfx942'
    done
    exits "v5 on gfx90a: refused" 2 make -s -C kernels PLATFORM=amd ARCH=gfx90a VARIANT=v5 BUILD="$TMPDIR/build"
    like "v5 on gfx90a: why, and what to use" "$ERR" 'gfx90a lacks the matrix instructions of v5: use baseline_vec'
    # v5 was never run on that GPU: what the compiler made of it must be what it was written for.
    v5=$KERNELS/gfx942-v5/resources.json
    exits "v5 on gfx942: the compiler tells" 0 \
        make -s -C kernels PLATFORM=amd ARCH=gfx942 VARIANT=v5 BUILD="${v5%/*}" resources
    if command -v llvm-mca-19 >/dev/null; then
        exits "v5 on gfx942: registers, scratch, LDS and ports are within the limits" 0 kernels/tools/v5_gfx942_check "$v5"
        is "v5 on gfx942: both formats and head sizes, keys split and not" "$(grep -c 'attend_tiles.*: ok$' <<<"$OUT")" 8
        jq '.kernels[0].vgpr_spills = 1' "$v5" >"$TMPDIR/spills.json"
        exits "v5 on gfx942: a spill is found" 1 kernels/tools/v5_gfx942_check "$TMPDIR/spills.json"
        jq '.kernels[].ports.HWVALU *= 1.1' "$v5" >"$TMPDIR/busy.json"
        exits "v5 on gfx942: too much vector work is found" 1 kernels/tools/v5_gfx942_check "$TMPDIR/busy.json"
    else
        skip "v5 on gfx942" "llvm-mca-19 is not installed (scripts/install-deps gpu)"
    fi
fi

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    compiles "nvidia sm_90a: nvcc compiles and links" nvidia sm_90a prefill
else
    skip "nvidia sm_90a" "nvcc is not installed"
fi
done_testing
