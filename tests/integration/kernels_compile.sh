#!/usr/bin/env bash
# The kernels compile, without a warning, for every platform whose compiler is installed, so that no path rots.
# unsanitized: compilers for GPUs only
. tests/lib.sh

# A sanitizer build of kernsweep changes nothing here: both kinds share these objects.
KERNELS=${BUILD%/sanitize}/kernels

# compiles PLATFORM ARCH FILE...: make leaves the files, none of them empty.
compiles() {
    local dir=$KERNELS/$2 file rc=0 log
    log=$(make -C kernels PLATFORM="$1" ARCH="$2" WERROR=1 BUILD="$dir" 2>&1) || rc=$?
    shift 2
    for file; do [ -s "$dir/$file" ] || rc=1; done
    ok "make exits 0 and leaves $(xargs <<<"$*")" "$rc" "$(tail -n 30 <<<"$log")"
}

mapfile -t variants < <(sed -n 's/^VARIANT(\([a-z0-9_]*\))$/\1/p' kernels/attention/variants.def)

hipcc_knows_it() {
    [ "$(kernels/tools/amd-offline.sh mode hipcc gfx942)" = hipcc ]
}

# Which GPU a code object is for; there are no programs where the installed hipcc does not know that GPU (Debian 12's), since
# nothing can link them.
gfx942() {
    local variant
    if hipcc_knows_it; then
        compiles amd gfx942 prefill attn_bench
        return
    fi
    compiles amd gfx942 "${variants[@]/%/.hsaco}" ops.hsaco
    for variant in "${variants[@]}" ops; do
        like "$variant.hsaco is a code object for gfx942" \
            "$(llvm-readelf-19 --notes "$KERNELS/gfx942/$variant.hsaco" 2>&1)" 'amdgcn-amd-amdhsa--gfx942'
    done
}

v5_gfx90a() {
    exits "make exits 2" 2 make -s -C kernels PLATFORM=amd ARCH=gfx90a VARIANT=v5 BUILD="$TMPDIR/build"
    like "the error says why, and what to use" "$ERR" 'gfx90a lacks the matrix instructions of v5: use baseline_vec'
}

# v5 has not been run on that GPU: what the compiler makes of it must be what it was written for. The folder is that of the
# code objects, which are made from the same listings.
V5=$KERNELS/gfx942/resources.json

v5_resources() {
    try_once v5 make -s -C kernels PLATFORM=amd ARCH=gfx942 WERROR=1 VARIANT=v5,v5_tiles BUILD="${V5%/*}" resources
    [ "$RC" = 0 ]
}

v5_listed() {
    needs v5_resources
    passes "resources.json is written" test -s "$V5"
}

# The instructions of a step, in their order, as the compiler left them.
v5_schedule() {
    needs v5_resources
    exits "the compiler keeps the schedule of the ping-pong form" 0 kernels/tools/v5_schedule_check "${V5%/*}/resources/v5.s"
    is "both formats and head sizes are there, keys split and not" "$(grep -c ': ok$' <<<"$OUT")" 8
}

v5_limits() {
    needs v5_resources
    exits "registers, scratch, LDS and ports are within the limits" 0 kernels/tools/v5_gfx942_check "$V5"
    is "both formats and head sizes are there, keys split and not" \
        "$(jq '[.kernels[] | select(.variant == "v5_tiles" and (.name | test("attend_tiles")))] | length' "$V5")" 8
    finds "a spilled register" '.kernels[0].vgpr_spills = 1' 'scratch or spills'
    finds "a tenth more vector work" '.kernels[].ports.HWVALU *= 1.1' "vector port over .* of the matrix cores' time"
    finds "operands read a second time" '.kernels[].loop.lds_reads_other = 32' '32 instead of 0 lds_reads_other'
    finds "a product outside the loop" '.kernels[].loop.matrix -= 64' '64 instead of 128 matrix a tile'
}

# clang 17 and 18 lack the builtins for buffer loads. With what stands in for them there, clang 19 makes the same of v5.
v5_intrinsics() {
    needs v5_resources
    local file=$KERNELS/gfx942-v5-intrinsics/resources.json
    CLANG_FLAGS=-DKS_BUFFER_INTRINSICS exits "make exits 0" 0 \
        make -s -C kernels PLATFORM=amd ARCH=gfx942 VARIANT=v5,v5_tiles BUILD="${file%/*}" resources
    exits "it is within the limits" 0 kernels/tools/v5_gfx942_check "$file"
    passes "the listing has buffer loads" grep -q buffer_load_dwordx4 "${file%/*}/resources/v5_tiles.s"
    is "it is not the builtins' listing" "$(cmp -s "${file%/*}/resources/v5_tiles.s" "${V5%/*}/resources/v5_tiles.s" && echo same)" ""
}

# docs/kernels/compilers.md has what five compilers make of v5; here is one of them.
v5_documented() {
    needs v5_resources
    exits "the page has what clang 19 makes of v5" 0 scripts/check-amd --page "$V5"
    is "nothing is said" "$OUT" ""
    jq '(.kernels[] | select(.name | test("attend"))).vgprs = 255' "$V5" >"$TMPDIR/stale.json"
    exits "another number of registers would be found" 1 scripts/check-amd --page "$TMPDIR/stale.json"
    like "the output says what to do" "$OUT" 'compilers.md is out of date: run make check-amd WRITE=1'
    jq '.compiler = "unknown"' "$V5" >"$TMPDIR/unknown.json"
    exits "a file of an unknown compiler is refused" 2 scripts/check-amd --page "$TMPDIR/unknown.json"
}

# finds WHAT EDIT REGEX: with that edit of the resources, the check fails and says why.
finds() {
    jq "$2" "$V5" >"$TMPDIR/edited.json"
    exits "$1 would be found" 1 kernels/tools/v5_gfx942_check "$TMPDIR/edited.json"
    like "$1: the line says so" "$OUT" "$3"
}

# Its tables are written from what check-amd compiled, here with one compiler.
tables_written() {
    needs v5_resources
    local page=$TMPDIR/page.md linked=$TMPDIR/linked
    printf 'trixie\t5.7.1\t5.7.1\t5.5.1\tgfx942\n' >"$linked"
    printf '%s\n' text '<!-- amd: linked -->' '<!-- end -->' '<!-- amd: v5 gfx942 -->' '<!-- end -->' >"$page"
    exits "a page without one of the tables is refused" 2 scripts/amd-tables --write "$page" "$linked" "$V5"
    like "the missing table is named" "$ERR" 'no table in the page for: variants gfx942'
    printf '%s\n' '<!-- amd: variants gfx942 -->' old '<!-- end -->' >>"$page"
    exits "empty tables are out of date" 1 scripts/amd-tables "$page" "$linked" "$V5"
    exits "they are written" 0 scripts/amd-tables --write "$page" "$linked" "$V5"
    exits "then they are current" 0 scripts/amd-tables "$page" "$linked" "$V5"
    like "a row of what was linked" "$(cat "$page")" '^\| trixie \| 5.7.1 \| 5.7.1 \| 5.5.1 \| gfx942 \|$'
    like "a row of the tile loop" "$(cat "$page")" '^\| v5_tiles: attend_tiles, D=128 \| 19 \| .*\| 0, 0 \| 32768 \| 128 \| 34 \|'
    is "the old table is gone, the text is not" "$(grep -cx old "$page") $(grep -cx text "$page")" "0 1"
}

# What the whole check needs: it must say so, not fail half-way.
check_amd_needs() {
    mkdir -p "$TMPDIR/bin"
    printf '#!/bin/sh\necho 1000\n' >"$TMPDIR/bin/id"
    chmod +x "$TMPDIR/bin/id"
    exits "without root it exits 2" 2 env PATH="$TMPDIR/bin:$PATH" scripts/check-amd --cache "$TMPDIR/cache"
    like "it says what for" "$ERR" 'check-amd: needs root, for debootstrap, mount and chroot'
    is "it has written nothing" "$(find "$TMPDIR/cache" 2>/dev/null)" ""
    exits "an unknown option exits 2" 2 scripts/check-amd --chroot
    like "the usage is printed" "$ERR" 'check-amd --page RESOURCES.json'
}
scenario "prerequisites of check-amd" check_amd_needs

if command -v hipcc >/dev/null; then
    scenario "kernels for amd gfx90a" compiles amd gfx90a prefill
    scenario "v5 for amd gfx90a" v5_gfx90a
else
    skip_scenario "kernels for amd gfx90a" "hipcc is not installed (scripts/install-deps gpu)"
fi

if ! command -v hipcc >/dev/null || ! command -v clang++-19 >/dev/null; then
    skip_scenario "kernels for amd gfx942" "hipcc or clang-19 is not installed (scripts/install-deps gpu)"
else
    scenario "kernels for amd gfx942" gfx942
    scenario "resources of v5 for amd gfx942" v5_listed
    scenario "schedule of v5 for amd gfx942" v5_schedule
    if hipcc_knows_it; then
        skip_scenario "limits of v5 for amd gfx942" "this hipcc compiles for gfx942, and clang 19 does not: the numbers are those of clang 19"
    elif command -v llvm-mca-19 >/dev/null; then
        scenario "limits of v5 for amd gfx942" v5_limits
        scenario "v5 by the intrinsics of older clangs" v5_intrinsics
        scenario "documented resources of v5 for amd gfx942" v5_documented
        scenario "tables of the resources of v5 for amd gfx942" tables_written
    else
        skip_scenario "limits of v5 for amd gfx942" "llvm-mca-19 is not installed (scripts/install-deps gpu)"
    fi
fi

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    scenario "kernels for nvidia sm_90a" compiles nvidia sm_90a prefill
else
    skip_scenario "kernels for nvidia sm_90a" "nvcc is not installed"
fi
done_testing
