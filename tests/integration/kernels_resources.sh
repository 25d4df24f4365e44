#!/usr/bin/env bash
# What the compiler makes of the kernels for an MI300X, without one: `make -C kernels resources` with clang-19.
# unsanitized: compilers for GPUs only
. tests/lib.sh

command -v clang++-19 >/dev/null || skip_all "clang-19 is not installed (scripts/install-deps gpu)"
command -v hipcc >/dev/null || skip_all "hipcc is not installed (scripts/install-deps gpu)"

RESOURCES=$TMPDIR/resources.json

resources() {
    try_once resources make -s -C kernels PLATFORM=amd ARCH=gfx942 VARIANT=baseline,v1,v3,v4 BUILD="$TMPDIR/build" \
        RESOURCES="$RESOURCES" resources
}

# of VARIANT FILTER: over the array of the variant's kernels
of() {
    jq -c --arg v "$1" '[.kernels[] | select(.variant == $v)] | '"$2" "$RESOURCES"
}

on_amd() {
    resources
    exited "make exits 0" 0
    is "baseline has 528 bytes of scratch, as measured" "$(of baseline '.[0].scratch_bytes')" 528
    is "v1 has 1040 bytes of scratch, as measured" "$(of v1 '.[0].scratch_bytes')" 1040
    is "v3 and v4 have no scratch" "$(of v3 'map(.scratch_bytes) | max') $(of v4 'map(.scratch_bytes) | max')" "0 0"
    is "v4 has the dynamic LDS of its launch" "$(of v4 'map(.lds_dynamic_bytes) | max')" 36864
    is "v3 leaves one half-empty wave on a CU" \
        "$(of v3 'map(select(.name | test("128"))) | .[0] | [.lane_use, .occupancy.waves, .occupancy.rule, .kv_passes]')" \
        '[0.5,0.25,"lds",8]'
}

ports() {
    resources
    is "every hot loop has its sum" "$(jq '[.kernels[].ports.HWVALU > 0] | length > 0 and all' "$RESOURCES")" true
}

# The block between a conditional branch and the next label is the mask, which most tiles skip; what stands before the
# branch belongs to every tile.
branches() {
    local file=$TMPDIR/branches.json
    exits "resources.py exits 0" 0 \
        kernels/tools/resources.py --arch gfx942 --out "$file" x=tests/fixtures/listings/branches.s
    is "both matrix products count, the mask does not" "$(jq -c '.kernels[0].loop | [.matrix, .exponentials, .vector]' "$file")" '[2,1,2]'
    is "reads, writes and loads by kind" \
        "$(jq -c '.kernels[0].loop | [.lds_reads_b128, .lds_reads_other, .lds_writes, .loads, .loads_to_lds]' "$file")" '[1,1,1,1,1]'
    is "barriers and waits" "$(jq -c '.kernels[0].loop | [.barriers, .waits]' "$file")" '[1,1]'
    is "the longest run of vector instructions between two products" "$(jq '.kernels[0].loop.vector_run' "$file")" 2
    is "what lies between the last product and the next iteration's first is such a run" \
        "$(sed 's/^\tv_mul_f32.*/&\n&\n&/' tests/fixtures/listings/branches.s >"$TMPDIR/tail.s" &&
            kernels/tools/resources.py --arch gfx942 --out "$file" x="$TMPDIR/tail.s" && jq '.kernels[0].loop.vector_run' "$file")" 3
}

# Four for the exponential, one for each other vector instruction, and one for the issue of each matrix product.
ports_of_branches() {
    exits "resources.py exits 0" 0 \
        kernels/tools/resources.py --arch gfx942 --out "$TMPDIR/ports.json" x=tests/fixtures/listings/branches.s
    is "the vector port issues the products too" "$(jq -c '.kernels[0].ports | [.HWVALU, .HWXDL]' "$TMPDIR/ports.json")" '[8,8]'
}

PING_PONG=tests/fixtures/listings/ping_pong.s

# spoilt WHAT AWK REGEX: with that edit of the ping-pong form's listing, the check of its schedule fails and says why.
spoilt() {
    awk "$2" "$PING_PONG" >"$TMPDIR/spoilt.s"
    exits "$1 is found" 1 kernels/tools/v5_schedule_check "$TMPDIR/spoilt.s"
    like "$1: the line says so" "$OUT" "$3"
}

schedule() {
    exits "the schedule that v5 was designed with passes" 0 kernels/tools/v5_schedule_check "$PING_PONG"
    like "one line says so" "$OUT" 'attend_ping_pong.*128.*: 200 registers: ok'
    spoilt "a missing product" '!/v_mfma/ || n++ {print}' '15 products in a section'
    spoilt "a missing read" '!/ds_read_b128/ || n++ {print}' '15 instead of 16 ds_read_b128'
    spoilt "another barrier" '{print} /s_setprio 0/ {print "\ts_barrier"}' '6 sections a step'
    spoilt "eight vector instructions between two products" \
        '{print} /v_mfma/ && ++n == 5 {for (i = 0; i < 4; i++) print "\tv_mul_f32_e32 v1, v1, v1"}' \
        ': 8 vector instructions between two products'
    spoilt "a second exponential behind a product" '{print} /v_mfma/ && ++n == 20 {print "\tv_exp_f32_e32 v1, v1"}' \
        ': more vector work behind a product than it takes'
    spoilt "a packed instruction beside products" '{print} /v_mfma/ && ++n == 5 {print "\tv_pk_mul_f32 v[0:1], v[0:1], v[0:1]"}' \
        ': packed fp32 instructions beside products'
    spoilt "a wait between products" '{print} /v_mfma/ && ++n == 5 {print "\ts_nop 0"}' ': a wait between two products'
    spoilt "a read among products" '{print} /v_mfma/ && ++n == 5 {print "\tds_read_b128 v[0:3], v4"}' \
        'a section with products accesses LDS or memory; 17 instead of 16 ds_read_b128'
    spoilt "a spilled register" '{sub(/vgpr_spill_count: 0/, "vgpr_spill_count: 1"); print}' 'scratch or spills'
    spoilt "a register too many" '{sub(/NumVgprs: 200/, "NumVgprs: 257"); print}' 'more than 256 registers'
    exits "a listing without the form is not such a file" 2 kernels/tools/v5_schedule_check tests/fixtures/listings/branches.s
}

on_cpu() {
    exits "make exits 0" 0 make -s -C kernels PLATFORM=cpu BUILD="$TMPDIR/cpu" resources
    is "no file is written" "$(find "$TMPDIR/cpu" -name resources.json 2>/dev/null)" ""
}

no_compiler() {
    exits "for AMD, it exits 2" 2 env CLANGXX=/nonexistent/clang make -s -C kernels PLATFORM=amd HIPCC=/nonexistent/hipcc BUILD="$TMPDIR/none" resources
    like "for AMD, it says what to install" "$ERR" "hipcc is not installed.*install ROCm's hipcc"
    exits "for NVIDIA, it exits 2" 2 make -s -C kernels PLATFORM=nvidia NVCC=/nonexistent/nvcc BUILD="$TMPDIR/none" resources
    like "for NVIDIA, it says what to install" "$ERR" "nvcc is not installed.*install CUDA's nvcc"
}

scenario "resources without a compiler" no_compiler
scenario "resources of four variants for gfx942" on_amd
scenario "contents of a hot loop with a branch" branches
scenario "schedule of v5's ping-pong form" schedule
if command -v llvm-mca-19 >/dev/null; then
    scenario "port use of the vector unit on gfx942" ports
    scenario "port use of a hot loop with a branch" ports_of_branches
else
    skip_scenario "port use of the vector unit on gfx942" "llvm-mca-19 is not installed"
fi
scenario "resources for the CPU" on_cpu
done_testing
