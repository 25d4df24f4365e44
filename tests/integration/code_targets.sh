#!/usr/bin/env bash
# Which code counts on which GPU, and what is known of it: code of real compilers for other GPUs, with features, for families,
# with functions that nobody inlined, stripped, linked from two.
# unsanitized: compilers for GPUs for the most part; the readers of objects are fuzzed
. tests/lib.sh
. tests/compiled.sh
. tests/executor.sh
. tests/pipeline.sh
. tests/tree.sh
. tests/gpus.sh

NVCC=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
PLAN_NODE=local

# Kernels that need no headers: hip NAME ARCH [OPTION...] <SOURCE makes $TMPDIR/NAME.co
hip() {
    local name=$1 archs
    read -ra archs <<<"$2"
    shift 2
    {
        echo '#define __global__ __attribute__((global))'
        echo '#define __device__ __attribute__((device))'
        echo '#define noinline __attribute__((noinline))'
        echo '__device__ inline unsigned tid() { return __builtin_amdgcn_workitem_id_x(); }'
        cat
    } >"$TMPDIR/$name.hip"
    case ${archs[*]} in
    *generic*) set -- -mcode-object-version=6 "$@" ;;
    esac
    compiled "$TMPDIR/$name.co" "$TMPDIR/$name.hip" clang++-19 -x hip --offload-device-only -nogpuinc -nogpulib -O3 \
        "${archs[@]/#/--offload-arch=}" "$@" -o "$TMPDIR/$name.co" "$TMPDIR/$name.hip"
}

plain='extern "C" __global__ void kern(float *o) { o[tid()] += 3; }'

# of FILE FILTER: what `resources` says
of() {
    ks resources "$TMPDIR/$1" --json | jq -r ".files[0].kernels[] | $2"
}

# identity FILE: for no GPU in particular
identity() {
    x code --path "$TMPDIR/$1" | jq -r .sha256
}

# built ID OBJECT [VARIANT_JSON]: a run of one variant whose build is that object, on a node with a gfx942
built() {
    job "$1" "$(jq -nc --arg o "$TMPDIR/$2" --arg g "$good" --argjson more "${3:-"{}"}" '
        {variants: [{name: "v", build: [["cp", $o, "{build}/kernels"]], run: ["sh", "-c", $g]} + $more], tests: [{variant: "v"}]}')"
    run "$1"
}

state_of() {
    summary "$1" '.variants[0] | .status + ": " + .reason'
}

other_gpus() {
    amd_gpus "$TMPDIR/node" 1
    hip mi200 gfx90a <<<"$plain" && hip mi300 gfx942 <<<"$plain" && hip xnack gfx942:xnack+ <<<"$plain" &&
        hip generic9 gfx9-generic <<<"$plain" || return 1
    built foreign mi200.co
    like "a build for a gfx90a only is refused by name" "$(state_of foreign)" \
        "^BUILD_FAILED: the build has code for gfx90a only, and the node's GPU is gfx942"
    is "its tests are not timed" "$(jq -s 'map(select(.event == "TEST_START")) | length' "$(bundle foreign)/events.jsonl")" 0
    built foreign2 mi200.co
    like "and so the next time" "$(state_of foreign2)" "^BUILD_FAILED: the build has code for gfx90a"
    built family generic9.co
    like "a family without it is, too" "$(state_of family)" "code for gfx9-generic only"
    built own mi300.co
    like "its own runs" "$(state_of own)" "^OK"
    built open xnack.co
    like "a feature that nobody has set rules nothing out" "$(state_of open)" "^OK"
    built off xnack.co '{"env": {"HSA_XNACK": "0"}}'
    like "one that the plan has set does" "$(state_of off)" "code for gfx942:xnack\\+ only, and the node's GPU is gfx942:xnack-"
    unset KERNSWEEP_FAKE_ROOT
}

# The gfx90a half of a build decides nothing on a gfx942, the other half does.
two_gpus() {
    amd_gpus "$TMPDIR/node" 1
    hip base "gfx90a gfx942" <<<"$plain" && hip old "gfx90a gfx942" <<'END' && hip new "gfx90a gfx942" <<'END2' || return 1
#ifdef __gfx90a__
#define N 5
#else
#define N 3
#endif
extern "C" __global__ void kern(float *o) { o[tid()] += N; }
END
#ifdef __gfx942__
#define N 5
#else
#define N 3
#endif
extern "C" __global__ void kern(float *o) { o[tid()] += N; }
END2
    local name
    for name in base old new; do built "two-$name" "$name.co"; done
    like "two architectures in one build are fine" "$(state_of two-base)" "^OK"
    is "the code of the other one does not count" "$(jq -r .sha256 "$(bundle two-old)/v/code.json")" "$(jq -r .sha256 "$(bundle two-base)/v/code.json")"
    unlike "its own does" "$(jq -r .sha256 "$(bundle two-new)/v/code.json")" "$(jq -r .sha256 "$(bundle two-base)/v/code.json")"
    is "the identity says for which" "$(jq -c '[.gpus, .kernels[].gpu]' "$(bundle two-base)/v/code.json")" '[["gfx942"],"gfx942"]'
    unset KERNSWEEP_FAKE_ROOT
}

names() {
    local long arch
    for arch in gfx9-generic gfx11-generic gfx942:xnack+ gfx90a:sramecc+:xnack-; do
        hip named "$arch" <<<"$plain" || return 1
        is "the name of $arch is whole" "$(of named.co .gpu)" "$arch"
    done
    long=$(printf 'x%.0s' {1..3000})
    hip long gfx942 <<<"extern \"C\" __global__ void $long(float *o) { o[tid()] += 3; }" || return 1
    is "a long name, too" "$(of long.co .name)" "$long"
    is "and its instructions are found" "$(of long.co '.instructions | length > 0')" true
}

calls='typedef float (*fn)(float, int);
__device__ noinline float helper(float x, int n) { for (int i = 0; i < n; i++) x = x * x + K; return x; }
__device__ noinline float deep(float x, int n) { return n ? deep(x * 2, n - 1) + n : x; }
extern "C" __global__ void direct(float *o, int n) { o[tid()] = helper(o[tid()], n); }
extern "C" __global__ void recursive(float *o, int n) { o[tid()] = deep(o[tid()], n); }
extern "C" __global__ void pointer(float *o, fn *table, int n) { o[0] = table[n](o[1], n); }'

# A called function that spills, and a kernel with AGPRs.
large='#define KEEP __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent")
template <int N> __device__ inline void live(float *o, const float *a) {
  float x[N];
#pragma unroll
  for (int i = 0; i < N; i++) x[i] = a[i * 64 + tid()];
  KEEP;
#pragma unroll
  for (int i = 0; i < N; i++) o[i * 64 + tid()] = x[i] * x[N - 1 - i];
}
__device__ noinline void called(float *o, const float *a) { live<150>(o, a); }
extern "C" __global__ void spills(float *o, const float *a) { called(o, a); }
extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(1, 64))) wide(float *o, const float *a) { live<280>(o, a); }'

# gate KIND LIMIT KERNEL OBJECT: the result of one on a gfx942
gate() {
    built "gate-$1-$2-$3" "$4.co" "$(jq -nc --arg kind "$1" --argjson limit "$2" --arg kernel "^$3\$" '
        {gates: [{kind: $kind, limit: $limit, kernel: $kernel, objects: ["{build}/kernels"]}]}')"
    summary "gate-$1-$2-$3" '.variants[0].gates[0] | .status + ": " + .reason'
}

unknown() {
    local version
    amd_gpus "$TMPDIR/node" 1
    for version in 4 5; do
        hip calls gfx942 -DK=3 -mcode-object-version=$version <<<"$calls" || return 1
        is "version $version: which kernels' scratch memory is unknown" \
            "$(of calls.co 'select(.resources | has("scratch_bytes") | not).name' | sort | xargs)" "pointer recursive"
        is "version $version: whose spills are" \
            "$(of calls.co 'select(.resources | has("vgpr_spills") and has("sgpr_spills") | not).name' | sort | xargs)" \
            "direct pointer recursive"
    done
    hip large gfx942 <<<"$large" || return 1
    like "a gate on scratch memory fails, and says why" "$(gate scratch_bytes 0 pointer calls)" \
        "^GATE_FAILED: no number: the objects has no scratch_bytes for kernel pointer: it calls functions through pointers"
    like "so does one on a called function's spills" "$(gate spills 0 spills large)" "^GATE_FAILED: .* no vgpr_spills .* whose spills no compiler states"
    like "a kernel that calls nothing passes" "$(gate spills 0 wide large)" "^OK: spills 0 of wide"
    like "AGPRs count with the VGPRs, where they share a file" "$(gate vgprs 256 wide large)" "^GATE_FAILED: vgprs 2[67][0-9] of wide, more than 256"
    like "and with waves" "$(gate min_occupancy 2 wide large)" "^GATE_FAILED: min_occupancy 1 of wide, less than 2"
    like "which small kernels have" "$(gate min_occupancy 8 pointer calls)" "^OK: min_occupancy 8 of pointer"
    unset KERNSWEEP_FAKE_ROOT
}

stripped() {
    local k
    for k in 3 5; do
        hip "bare$k" gfx942 -DK="$k" -Xoffload-linker -s <<<"$calls" || return 1
        hip "called$k" gfx942 -DK="$k" <<<"$calls" || return 1
    done
    unlike "another callee is another identity" "$(identity bare3.co)" "$(identity bare5.co)"
    is "a kernel that calls changes, others do not" \
        "$(diff <(of bare3.co '[.name, .sha256] | @tsv' | sort) <(of bare5.co '[.name, .sha256] | @tsv' | sort) | sed -n 's/^< \([a-z]*\).*/\1/p' | grep -cE '^(direct|wide)$')" 1
    is "who calls through pointers changes with what may be called" \
        "$(diff <(of called3.co '[.name, .sha256] | @tsv' | sort) <(of called5.co '[.name, .sha256] | @tsv' | sort) | sed -n 's/^< \([a-z]*\).*/\1/p' | xargs)" direct
    hip table3 gfx942 -DK=3 <<<"$calls"'
        __device__ fn table[2] = {helper, deep};
        extern "C" __global__ void tabled(float *o, int n) { o[0] = table[n](o[1], n); }' &&
        hip table5 gfx942 -DK=5 <<<"$calls"'
        __device__ fn table[2] = {helper, deep};
        extern "C" __global__ void tabled(float *o, int n) { o[0] = table[n](o[1], n); }' || return 1
    like "also where a table has it" \
        "$(diff <(of table3.co '[.name, .sha256] | @tsv' | sort) <(of table5.co '[.name, .sha256] | @tsv' | sort) | sed -n 's/^< \([a-z]*\).*/\1/p' | xargs)" "tabled"
}

# Two relocatable objects of one GPU, linked: each brings its own list of kernels.
several_notes() {
    local part
    for part in a b; do
        hip "part$part" gfx942 <<<"extern \"C\" __global__ void $part(float *o) { o[tid()] += 3; }" || return 1
        clang++-19 -x hip --offload-device-only -nogpuinc -nogpulib -O3 --offload-arch=gfx942 -S --no-gpu-bundle-output -o "$TMPDIR/$part.s" "$TMPDIR/part$part.hip" &&
            clang-19 --target=amdgcn-amd-amdhsa -mcpu=gfx942 -c -o "$TMPDIR/$part.o" "$TMPDIR/$part.s" || return 1
    done
    ld.lld-19 -shared -o "$TMPDIR/linked.co" "$TMPDIR/a.o" "$TMPDIR/b.o" || return 1
    is "the kernels of both are there" "$(of linked.co '[.name, .resources.scratch_bytes] | @csv' | sort | xargs)" 'a,0 b,0'
}

# A library has hundreds of objects, and a disassembler takes minutes for all.
slow_disassembler() {
    local part began
    for part in first second third; do
        hip "$part" gfx942 <<<"extern \"C\" __global__ void $part(float *o) { o[tid()] += 3; }" || return 1
        mv "$TMPDIR/$part.co" "$TMPDIR/$part.o"
    done
    (cd "$TMPDIR" && ar rc library.a ./first.o ./second.o ./third.o)
    mkdir -p "$TMPDIR/rocm/llvm/bin"
    printf '#!/bin/sh\necho run >>"%s"\nsleep 100\n' "$TMPDIR/runs" >"$TMPDIR/rocm/llvm/bin/llvm-objdump"
    chmod +x "$TMPDIR/rocm/llvm/bin/llvm-objdump"
    began=$SECONDS
    ROCM_PATH=$TMPDIR/rocm try ks resources "$TMPDIR/library.a"
    like "all kernels are listed within seconds" "$((SECONDS - began)) $(grep -c gfx942 <<<"$OUT")" '^([0-9]|[12][0-9]) 3$'
    like "it says whose instructions are missing" "$ERR" "instructions of 3 kernels were not counted .* --kernel"
    printf '#!/bin/sh\necho run >>"%s"\nexec llvm-objdump-19 "$@"\n' "$TMPDIR/runs" >"$TMPDIR/rocm/llvm/bin/llvm-objdump"
    rm "$TMPDIR/runs"
    is "one that is asked for has them" "$(ROCM_PATH=$TMPDIR/rocm ks resources "$TMPDIR/library.a" --kernel '^second' --json | jq -r '.files[0].kernels[] | .name, (.instructions | length > 0)' | xargs)" "second true"
    is "and no other object is disassembled" "$(wc -l <"$TMPDIR/runs")" 1
}

# One object has all kernels of a library: disassembling it whole would take minutes.
many_kernels() {
    local i
    for i in $(seq 400); do
        echo "extern \"C\" __global__ void tile_$i(float *o) { o[tid()] += $i; }"
    done | hip many gfx942 || return 1
    mkdir -p "$TMPDIR/few/llvm/bin"
    printf '#!/bin/sh\necho "$*" >>"%s"\nexec llvm-objdump-19 "$@"\n' "$TMPDIR/asked" >"$TMPDIR/few/llvm/bin/llvm-objdump"
    chmod +x "$TMPDIR/few/llvm/bin/llvm-objdump"
    is "one kernel of many has its instructions" "$(ROCM_PATH=$TMPDIR/few ks resources "$TMPDIR/many.co" --kernel '^tile_7$' --json | jq -c '.files[0].kernels[] | [.name, (.instructions | length > 0)]')" '["tile_7",true]'
    like "and no other is disassembled" "$(cat "$TMPDIR/asked")" '^-d .* --disassemble-symbols=tile_7,$'
    rm "$TMPDIR/asked"
    is "all of them have theirs from one listing" "$(ROCM_PATH=$TMPDIR/few ks resources "$TMPDIR/many.co" --json | jq '[.files[0].kernels[] | select(.instructions | length > 0)] | length') $(grep -vc disassemble-symbols "$TMPDIR/asked")" "400 1"
}

cuda_calls() {
    local arch
    cat >"$TMPDIR/calls.cu" <<'END'
#include <cstdio>
__device__ __noinline__ float leaf(float x, const int *ix, int n) { float a[64]; for (int i = 0; i < 64; i++) a[i] = x * i; for (int i = 0; i < n; i++) a[ix[i] & 63] += i; float s = 0; for (int i = 0; i < 64; i++) s += a[i]; return s; }
__device__ __noinline__ float deep(float x, const int *ix, int n) { return n <= 0 ? x : leaf(deep(x * 2, ix, n - 1), ix, n); }
__device__ __noinline__ int left(int a, int n);
__device__ __noinline__ int right(int a, int n) { return n <= 0 ? a : left(a + 1, n - 1) * 3; }
__device__ __noinline__ int left(int a, int n) { return n <= 0 ? a : right(a * 2, n - 2) + 1; }
typedef float (*fp)(float, const int *, int);
__device__ fp table[2] = {leaf, deep};
extern "C" __global__ void direct(float *o, const int *ix, int n) { o[threadIdx.x] = leaf(o[threadIdx.x], ix, n); }
extern "C" __global__ void recursive(float *o, const int *ix, int n) { o[threadIdx.x] = deep(o[threadIdx.x], ix, n); }
extern "C" __global__ void mutual(int *o, int n) { o[threadIdx.x] = left(o[threadIdx.x], n); }
extern "C" __global__ void pointer(float *o, const int *ix, int n) { o[threadIdx.x] = table[n & 1](o[threadIdx.x], ix, n); }
extern "C" __global__ void prints(int *o) { printf("%d\n", *o); }
END
    for arch in 80 90a 100f 120; do
        compiled "$TMPDIR/calls.cubin" "$TMPDIR/calls.cu" "$NVCC" -arch="sm_$arch" -cubin -o "$TMPDIR/calls.cubin" "$TMPDIR/calls.cu" 2>/dev/null || return 1
        is "sm_$arch: the stack of recursion and pointers is unknown, that of other calls is not" \
            "$(of calls.cubin '.gpu + " " + .name + " " + (if has("unknown") then "unknown" else (.resources.scratch_bytes >= 8 | tostring) end)' | sort | xargs)" \
            "sm_$arch direct true sm_$arch mutual unknown sm_$arch pointer unknown sm_$arch prints true sm_$arch recursive unknown"
    done
}

# on_h100 NAME: the identity of $TMPDIR/NAME.o on an H100
on_h100() {
    job "$1" "$(jq -nc --arg o "$TMPDIR/$1.o" --arg g "$good" '
        {variants: [{name: "v", build: [["cp", $o, "{build}/k.o"]], run: ["sh", "-c", $g],
            gates: []}], tests: [{variant: "v"}]}')"
    run "$1"
    jq -r .sha256 "$(bundle "$1")/v/code.json"
}

cuda_images() {
    nvidia_gpus "$TMPDIR/nvidia" 1 || return 1
    local gencode=(-gencode "arch=compute_80,code=sm_80" -gencode "arch=compute_90,code=compute_90") name
    cat >"$TMPDIR/base.cu" <<'END'
#if __CUDA_ARCH__ >= 900
#define N NEW
#else
#define N OLD
#endif
// a comment
__global__ void k(float *o) { o[threadIdx.x] += N; }
END
    object() { # NAME OPTION...
        compiled "$TMPDIR/$1.o" "$TMPDIR/base.cu" "$NVCC" "${gencode[@]}" "${@:2}" -c -o "$TMPDIR/$1.o" "$TMPDIR/base.cu"
    }
    object plain -DOLD=1 -DNEW=2 && object old -DOLD=3 -DNEW=2 && object new -DOLD=1 -DNEW=3 && object lines -DOLD=1 -DNEW=2 -lineinfo || return 1
    name=$(on_h100 plain)
    is "the branch of the sm_80 does not count on an H100" "$(on_h100 old)" "$name"
    unlike "what it compiles does" "$(on_h100 new)" "$name"
    is "without lines" "$(on_h100 lines)" "$name"
    unset KERNSWEEP_FAKE_ROOT FAKE_NVML KERNSWEEP_NVML_LIBRARY
}

if command -v clang++-19 >/dev/null; then
    scenario "code for other GPUs" other_gpus
    scenario "code for two GPUs" two_gpus
    scenario "names of GPUs and of kernels" names
    scenario "what calls make unknown, and gates" unknown
    scenario "a stripped object, and calls through pointers" stripped
    scenario "an object linked from two" several_notes
    scenario "a library, and a disassembler that takes its time" slow_disassembler
    scenario "one kernel of an object with many" many_kernels
else
    skip_scenario "code for AMD GPUs" "clang-19 is not installed (scripts/install-deps gpu)"
fi
if [ -x "$NVCC" ]; then
    scenario "NVIDIA: what calls make unknown" cuda_calls
    scenario "NVIDIA: the image that the GPU takes" cuda_images
else
    skip_scenario "code for NVIDIA GPUs" "nvcc is not installed"
fi
done_testing
