#!/usr/bin/env bash
# `kernsweep resources`, gates with "objects", and `kernsweep diff`: the numbers of anybody's kernels, read from what
# compilers wrote, are those that the compilers state themselves.
. tests/lib.sh
. tests/compiled.sh
. tests/executor.sh
. tests/pipeline.sh

NVCC=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
PLAN_NODE=local

# A kernel that keeps 96 values per lane, of 1024 lanes: it must spill; one that needs little; a loop.
source_file() {
    cat >"$TMPDIR/kernels.cu" <<'END'
#ifdef __HIP__
#include <hip/hip_runtime.h>
#endif
__global__ void small(float *x) {
    __shared__ float shared[512];
    shared[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = shared[threadIdx.x ^ 1];
}
__global__ void __launch_bounds__(1024) spills(float *x) {
    float v[96];
    for (int r = 0; r < 8; r++) {
#pragma unroll
        for (int j = 0; j < 96; j++) v[j] = x[j * 1024 + threadIdx.x + r];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 96; j++) x[j * 1024 + threadIdx.x] = v[j] * v[(j + 37) % 96] + v[(j + 11) % 96];
    }
}
END
}

amd_libs() {
    kernels/tools/amd-offline.sh device-libs gfx942 "$TMPDIR/libs"
}

# amd_scenario TITLE FUNCTION: one that compiles for a gfx942.
amd_scenario() {
    if command -v clang++-19 >/dev/null && command -v llvm-objdump-19 >/dev/null && amd_libs 2>/dev/null; then
        scenario "$@"
    else
        skip_scenario "$1" "no clang-19, or no device libraries for it (scripts/install-deps gpu)"
    fi
}

compile_amd() {
    source_file
    compiled "$TMPDIR/kernels.hsaco" "$TMPDIR/kernels.cu" \
        clang++-19 -x hip --offload-arch=gfx942 --rocm-device-lib-path="$TMPDIR/libs" -O3 --offload-device-only \
        --no-gpu-bundle-output -Rpass-analysis=kernel-resource-usage -o "$TMPDIR/kernels.hsaco" "$TMPDIR/kernels.cu" \
        2>"$TMPDIR/remarks"
}

# number FILE KERNEL KEY: what the command prints
number() {
    ks resources "$1" --kernel "$2" --json | jq ".files[0].kernels[0].resources.$3"
}

# remark KERNEL TEXT: what clang says
remark() {
    sed -n "/Function Name: _Z[0-9]*$1/,/Function Name: _Z[0-9]*[^$1]/p" "$TMPDIR/remarks" | grep -m 1 -o " $2: [0-9]*" | grep -o '[0-9]*$'
}

amd_numbers() {
    amd_libs && compile_amd || return 1
    local kernel
    for kernel in small spills; do
        is "$kernel: VGPRs" "$(number "$TMPDIR/kernels.hsaco" "$kernel" vgprs)" "$(remark "$kernel" VGPRs)"
        is "$kernel: AGPRs" "$(number "$TMPDIR/kernels.hsaco" "$kernel" agprs)" "$(remark "$kernel" AGPRs)"
        is "$kernel: scratch" "$(number "$TMPDIR/kernels.hsaco" "$kernel" scratch_bytes)" "$(remark "$kernel" 'ScratchSize .bytes.lane.')"
        is "$kernel: spilled VGPRs" "$(number "$TMPDIR/kernels.hsaco" "$kernel" vgpr_spills)" "$(remark "$kernel" 'VGPRs Spill')"
        is "$kernel: LDS" "$(number "$TMPDIR/kernels.hsaco" "$kernel" lds_bytes)" "$(remark "$kernel" 'LDS Size .bytes.block.')"
    done
    [ "$(remark spills 'VGPRs Spill')" -gt 0 ] && [ "$(remark small 'VGPRs Spill')" = 0 ]
}
amd_scenario "the numbers of a code object are those of clang's remarks" amd_numbers

table() {
    amd_libs && compile_amd || return 1
    ks resources "$TMPDIR/kernels.hsaco" >"$TMPDIR/table" || return 1
    like "a row for each kernel" "$(cat "$TMPDIR/table")" "gfx942 .*small"
    is "--kernel selects" "$(ks resources "$TMPDIR/kernels.hsaco" --kernel "^spill" | grep -c gfx942)" 1
    ln -sf kernels.hsaco "$TMPDIR/linked.hsaco"
    is "a link is followed" "$(ks resources "$TMPDIR/linked.hsaco" --kernel "^spill" | grep -c gfx942)" 1
    try ks resources "$TMPDIR/kernels.hsaco" --kernel nothing
    exited "no kernel that matches" 2
    try ks resources "$TMPDIR/kernels.cu"
    exited "a file without code" 2
    like "and says why" "$ERR" "no kernel that can be read"
    try ks resources "$TMPDIR/absent.o"
    exited "a file that is not there" 2
    like "and names it" "$ERR" "absent.o: no such file"
}
amd_scenario "a table for people, and what is wrong with files" table

instructions() {
    amd_libs && compile_amd || return 1
    ks resources "$TMPDIR/kernels.hsaco" --json >"$TMPDIR/json" || return 1
    is "every instruction is in one class" \
        "$(jq '[.files[0].kernels[] | select(.name == "_Z5smallPf").instructions[]] | add' "$TMPDIR/json")" \
        "$(llvm-objdump-19 -d --no-show-raw-insn --disassemble-symbols=_Z5smallPf "$TMPDIR/kernels.hsaco" | awk '/s_endpgm/ { n++; exit } /\/\/ 0/ { n++ } END { print n }')"
    is "scratch accesses lie in the loop" \
        "$(jq '.files[0].kernels[] | select(.name == "_Z6spillsPf") | .hot_loop.scratch > 0 and .instructions.scratch > .hot_loop.scratch' "$TMPDIR/json")" true
    is "no loop, no hot loop" "$(jq '.files[0].kernels[] | select(.name == "_Z5smallPf") | has("hot_loop")' "$TMPDIR/json")" false
}
amd_scenario "instructions by class, and the hot loop" instructions

hip_object() {
    source_file
    compiled "$TMPDIR/kernels.o" "$TMPDIR/kernels.cu" \
        hipcc -x hip --offload-arch=gfx90a --offload-arch=gfx908 -O3 -Wno-unused-result -c -o "$TMPDIR/kernels.o" "$TMPDIR/kernels.cu" 2>"$TMPDIR/log" || return 1
    compiled "$TMPDIR/kernels.s" "$TMPDIR/kernels.cu" \
        hipcc -x hip --offload-arch=gfx90a -O3 --cuda-device-only -S -o "$TMPDIR/kernels.s" "$TMPDIR/kernels.cu" 2>"$TMPDIR/log" || return 1
    is "a row for each GPU" "$(ks resources "$TMPDIR/kernels.o" --json | jq -c '[.files[0].kernels[] | select(.name == "_Z6spillsPf").gpu]')" '["gfx908","gfx90a"]'
    is "the spills that the assembly states" \
        "$(ks resources "$TMPDIR/kernels.o" --json | jq '.files[0].kernels[] | select(.name == "_Z6spillsPf" and .gpu == "gfx90a").resources.vgpr_spills')" \
        "$(sed -n '/^    .name: *_Z6spillsPf/,/vgpr_spill_count/s/.*vgpr_spill_count: *//p' "$TMPDIR/kernels.s")"
}
if command -v hipcc >/dev/null; then
    scenario "an object of hipcc with code for two GPUs" hip_object
else
    skip_scenario "an object of hipcc with code for two GPUs" "no hipcc"
fi

# of_ptxas KERNEL PATTERN: the number before or behind a word of what ptxas -v prints of a kernel
of_ptxas() {
    sed -n "/Compiling entry function '_Z[0-9]*$1/,/Compile time/p" "$TMPDIR/ptxas" | grep -m 1 -o "$2" | grep -m 1 -o '[0-9]*'
}

cuda_object() {
    source_file
    compiled "$TMPDIR/kernels.o" "$TMPDIR/kernels.cu" \
        "$NVCC" -arch=sm_90a -O3 -Xptxas -v -c -o "$TMPDIR/kernels.o" "$TMPDIR/kernels.cu" 2>"$TMPDIR/ptxas" || return 1
    local kernel
    for kernel in small spills; do
        is "$kernel: registers" "$(number "$TMPDIR/kernels.o" "$kernel" vgprs)" "$(of_ptxas "$kernel" 'Used [0-9]* registers')"
        is "$kernel: stack" "$(number "$TMPDIR/kernels.o" "$kernel" scratch_bytes)" "$(of_ptxas "$kernel" '[0-9]* bytes stack frame')"
    done
    is "shared memory, without what the system reserves" "$(number "$TMPDIR/kernels.o" small lds_bytes)" 2048
    [ "$(number "$TMPDIR/kernels.o" spills scratch_bytes)" -gt 0 ]
}
if [ -x "$NVCC" ]; then
    scenario "an object of nvcc: the numbers of ptxas" cuda_object
else
    skip_scenario "an object of nvcc: the numbers of ptxas" "no nvcc"
fi

# gate_of BUNDLE VARIANT FILTER: of its last gate in the summary
gate_of() {
    jq -r --arg v "$2" ".variants[] | select(.name == \$v) | .gates[-1] | $3" "$1/summary.json"
}

gated_sweep() {
    amd_libs && compile_amd || return 1
    jq -n --arg work "$TMPDIR/work" --arg object "$TMPDIR/kernels.hsaco" '
        def gated($name; $gate): {name: $name, build: [["mkdir", "{build}/lib"], ["cp", $object, "{build}/lib/kernels.hsaco"]],
            run: ["sh", "-c", "echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1}\""], gates: [$gate]};
        {schema: "kernsweep.plan/1", clock: "simulated", ticket: "objects", workdir: $work, contexts: [16], timeouts: {default: 60}, variants: [
            gated("good"; {kind: "scratch_bytes", limit: 0, objects: ["{build}/lib/*.hsaco"], kernel: "small"}),
            gated("scratch"; {kind: "scratch_bytes", limit: 0, objects: ["{build}/lib/*.hsaco"]}),
            gated("spills"; {kind: "spills", limit: 0, objects: ["{build}/*/kernels.*"], kernel: "^_Z6spills"}),
            gated("lds"; {kind: "lds_bytes", limit: 2048, objects: ["{build}/lib/*"]}),
            gated("nofile"; {kind: "spills", limit: 0, objects: ["{build}/*.o"]}),
            gated("nokernel"; {kind: "spills", limit: 0, objects: ["{build}/lib/*"], kernel: "absent"})]}' >"$TMPDIR/gated.json"
    ks_run "$TMPDIR/gated.json" --tag gated --fail-on none >"$TMPDIR/out" 2>&1
}

gates() {
    gated_sweep || diag "$(cat "$TMPDIR/out")"
    local bundle spilled
    bundle=$(bundle_of gated)
    spilled=$(remark spills 'VGPRs Spill')
    is "which variants pass" "$(jq -r '[.variants[] | select(.status == "OK").name] | join(" ")' "$bundle/summary.json")" "good lds"
    like "scratch memory of the worst kernel" "$(gate_of "$bundle" scratch .reason)" "^scratch_bytes [0-9]* of _Z6spillsPf, more than 0$"
    is "the number of spills" "$(gate_of "$bundle" spills .number)" "$spilled"
    is "LDS" "$(gate_of "$bundle" lds .number)" 2048
    like "a pattern that no file matches" "$(gate_of "$bundle" nofile .reason)" "no file matches \".*/\*\.o\""
    is "a kernel that is not there" "$(gate_of "$bundle" nokernel .reason)" 'no number: no kernel in the objects matches "absent"'
}
amd_scenario "gates read the objects of any build" gates

facts() {
    gated_sweep || diag "$(cat "$TMPDIR/out")"
    is "code.json has the resources" \
        "$(jq '.kernels[] | select(.name == "_Z6spillsPf").resources.vgpr_spills' "$(bundle_of gated)/good/code.json")" "$(remark spills 'VGPRs Spill')"
    is "no listings unless the plan asks for them" "$(find "$(bundle_of gated)" -name listings.txt)" ""
}
amd_scenario "the facts of kernels are in code.json" facts

# listed_sweep TAG SED: a sweep whose kernels are compiled from the source, changed by SED; their listings are kept
listed_sweep() {
    amd_libs && source_file && sed -i -e "$2" "$TMPDIR/kernels.cu" || return 1
    compiled "$TMPDIR/$1.hsaco" "$TMPDIR/kernels.cu" \
        clang++-19 -x hip --offload-arch=gfx942 --rocm-device-lib-path="$TMPDIR/libs" -O3 --offload-device-only \
        --no-gpu-bundle-output -o "$TMPDIR/$1.hsaco" "$TMPDIR/kernels.cu" || return 1
    jq -n --arg work "$TMPDIR/work" --arg object "$TMPDIR/$1.hsaco" --arg tag "$1" '
        {schema: "kernsweep.plan/1", clock: "simulated", ticket: "diff", tag: $tag, listings: true, workdir: $work, contexts: [16], timeouts: {default: 60},
         variants: [{name: "v", build: [["cp", $object, "{build}/kernels.hsaco"]], run: ["sh", "-c", "echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1}\""]}]}' >"$TMPDIR/$1.json"
    ks_run "$TMPDIR/$1.json" >"$TMPDIR/out" 2>&1 || diag "$(cat "$TMPDIR/out")"
}

diff_of_code() {
    listed_sweep base "" && listed_sweep again "s|^__global__ void small|// a comment\n&|" &&
        listed_sweep worse "s/shared\[threadIdx.x ^ 1\]/shared[threadIdx.x ^ 1] * 3.0f/" || return 1
    local base again worse ids
    base=$(bundle_of base) again=$(bundle_of again) worse=$(bundle_of worse)
    is "a comment gives the same listing" "$(cat "$again/v/listings.txt")" "$(cat "$base/v/listings.txt")"
    manifest_holds "$base" || return 1
    try ks diff "$base" "$again" --variant v
    exited "unchanged code" 0
    like "is the same machine code" "$OUT" "the same machine code"
    try ks diff "$base" "$worse" --variant v
    like "only one kernel differs" "$OUT" "1 of 2 kernels differ"
    like "it is named" "$OUT" "^small: changed"
    like "its instructions stand side by side" "$OUT" "^instructions: vector *[0-9]* *[0-9]* *\+1$"
    like "the listing shows the product" "$OUT" "^\+  v_mul_f32"
    unlike "the other kernel is left out" "$OUT" "spills"
    ks diff "$base" "$worse" --variant v --json >"$TMPDIR/json"
    is "the same as JSON" "$(jq -c '[.same, (.kernels[] | [.name, .state])]' "$TMPDIR/json")" \
        '[false,["_Z5smallPf","changed"],["_Z6spillsPf","identical"]]'
    is "--kernel selects" "$(ks diff "$base" "$worse" --variant v --kernel spills --json | jq -r '.kernels[].name')" _Z6spillsPf
    try ks diff "$base" "$worse" --variant absent
    exited "a variant that is not there" 2
    ks report "$worse" --against "$base" --kind regression --lang es >"$TMPDIR/report.md"
    like "a report has the kernel, folded" "$(cat "$TMPDIR/report.md")" "<details><summary>v: 1 de 2 kernels</summary>"
    like "and what changed of it" "$(cat "$TMPDIR/report.md")" "small. *. .instructions.vector. *. *[0-9]* . *[0-9]* "
    ks report "$worse" --against "$base" --kind nightly --format html >"$TMPDIR/report.html"
    is "a page folds it, too" "$(grep -c '^<details><summary>v: 1 of 2 kernels</summary>$\|^</details>$' "$TMPDIR/report.html")" 2
    ks report "$again" --against "$base" --kind nightly >"$TMPDIR/report.md"
    unlike "no section where nothing changed" "$(cat "$TMPDIR/report.md")" "Changed machine code"
    ids=("$(jq -r .run_id "$base/job.json")" "$(jq -r .run_id "$worse/job.json")")
    rm -r "$worse"
    try ks diff "${ids[@]}" --variant v
    like "without the bundle, the numbers are those of the store" "$OUT" "^instructions: vector *[0-9]* *[0-9]* *\\+1$"
    like "and the listings are missed" "$ERR" "no listings to compare"
}
amd_scenario "what changed in the code of two runs" diff_of_code

done_testing
