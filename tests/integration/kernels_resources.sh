#!/usr/bin/env bash
# What the compiler makes of the kernels for an MI300X, without one: `make -C kernels resources` with clang-19.
# timeout: 600
# unsanitized: compilers for GPUs only
. tests/lib.sh

command -v clang++-19 >/dev/null || skip_all "clang-19 is not installed (scripts/install-deps gpu)"
command -v hipcc >/dev/null || skip_all "hipcc is not installed (scripts/install-deps gpu)"

of() { # VARIANT FILTER
    jq -c --arg v "$1" '[.kernels[] | select(.variant == $v)] | '"$2" "$TMPDIR/resources.json"
}

exits "the numbers of four variants are written" 0 \
    make -s -C kernels PLATFORM=amd ARCH=gfx942 VARIANT=baseline,v1,v3,v4 BUILD="$TMPDIR/build" RESOURCES="$TMPDIR/resources.json" resources
is "baseline spills what was measured" "$(of baseline '.[0].scratch_bytes')" 528
is "v1 twice that" "$(of v1 '.[0].scratch_bytes')" 1040
is "v3 and v4 nothing" "$(of v3 'map(.scratch_bytes) | max')$(of v4 'map(.scratch_bytes) | max')" 00
is "the dynamic LDS of the launch is there" "$(of v4 'map(.lds_dynamic_bytes) | max')" 36864
is "v3 leaves one half-empty wave on a CU" \
    "$(of v3 'map(select(.name | test("128"))) | .[0] | [.lane_use, .occupancy.waves, .occupancy.rule, .kv_passes]')" \
    '[0.5,0.25,"lds",8]'
if command -v llvm-mca-19 >/dev/null; then
    is "the ports of every hot loop are summed" "$(jq '[.kernels[].ports.HWVALU > 0] | all' "$TMPDIR/resources.json")" true
else
    skip "the ports of every hot loop are summed" "llvm-mca-19 is not installed"
fi
exits "on a CPU there is none, and that is fine" 0 make -s -C kernels PLATFORM=cpu BUILD="$TMPDIR/cpu" resources
is "and nothing is written" "$(find "$TMPDIR/cpu" -name resources.json 2>/dev/null)" ""
done_testing
