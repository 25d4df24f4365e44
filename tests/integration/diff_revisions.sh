#!/usr/bin/env bash
# `kernsweep diff --revs A..B PLAN`: both revisions are built here, from their own build files, without a GPU, and their kernels
# are told apart. The plan asks for GPUs, clocks, a gate and a model that this machine does not have.
# unsanitized: hipcc for the most part; integration/code_identity and unit/test_kernel_pairs have the parts
. tests/lib.sh
. tests/store.sh

REPO=$TMPDIR/repo

in_repo() {
    git -C "$REPO" -c user.name=A -c user.email=a@example.org "$@" >/dev/null 2>&1
}

commit() {
    in_repo add -A && in_repo commit -q -m "$1" && in_repo tag "$1"
}

diff_of() {
    ks diff --revs "$@"
}

# edit FILE SED
edit() {
    sed -i -e "$2" "$REPO/$1"
}

make_repo() {
    mkdir -p "$REPO"
    in_repo init -q -b main
    printf '#pragma once\nstatic __device__ inline float twice(float x) { return x * 2; }\n' >"$REPO/helper.h"
    cat >"$REPO/kernels.cu" <<'END'
#include <hip/hip_runtime.h>
#include "helper.h"
__global__ void kept(float *x) { x[threadIdx.x] += 5; }
__global__ void inlines(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }
__global__ void old_name(float *x) { x[threadIdx.x] -= 7; }
namespace a { __global__ void travels(float *x) { x[threadIdx.x] *= x[0]; } }
__global__ void dropped(float *x) { x[threadIdx.x] = 1 / x[1]; }
__global__ void branchy(float *x) {
    for (int i = 0; i < TIMES; i++) x[i * 64 + threadIdx.x] *= x[i];
}
END
    echo 'int main(void) { return 3; }' >"$REPO/host.c"
    cat >"$REPO/Makefile" <<'END'
FLAGS = -DTIMES=4
$(OUT)/kernels.o: kernels.cu helper.h
	hipcc -x hip --offload-arch=gfx90a --offload-arch=gfx908 -O2 $(FLAGS) -c -o $@ kernels.cu
END
    commit base
    echo hello >"$REPO/README"
    edit kernels.cu 's/= 1 /=  1 /'
    commit words
    edit helper.h 's/x \* 2/x * 2 + 1/'
    commit header
    edit kernels.cu 's/old_name/a_new_and_much_longer_name_of_it/; s/namespace a /namespace elsewhere /; s/void dropped(float \*x) { .* }/void added(float *x) { x[1] = threadIdx.x; }/'
    commit names
    edit Makefile 's/TIMES=4/TIMES=40/'
    commit flags
    edit host.c 's/3/4/'
    commit host
    edit Makefile 's/-c -o/--no-such-flag -c -o/'
    commit broken
    jq -n --arg src "$REPO" --arg work "$TMPDIR/work" '
        {schema: "kernsweep.plan/1", ticket: "revs", node: "gpu-box", workdir: $work, source: {dir: $src}, model: "/nowhere/model.gguf",
         contexts: [16, 32], gpus: ["0000:99:00.0"], clocks: {mode: "fixed", mhz: 900}, timeouts: {default: 60}, limits: {memory: "1T"},
         variants: [{name: "gpu", build: [["make", "-C", "{src}", "OUT={build}", "{build}/kernels.o"]], run: ["false"],
                     gates: [{kind: "command", run: ["false"]}]},
            {name: "host", build: [["gcc", "-O2", "-o", "{build}/host", "{src}/host.c"]], run: ["{build}/host"]},
            {name: "script", build: [["gcc", "-O2", "-o", "{build}/host", "{src}/host.c"]], run: ["sh", "{src}/bench.sh"]}]}' >"$TMPDIR/plan.json"
}

# states: the kernels of the last diff by state, "changed:inlines ..."
states() {
    jq -r '[.variants[].kernels[] | select(.state != "identical")
        | .state + ":" + (.name | capture("(?<n>kept|inlines|old_name|longer_name|travels|dropped|added|branchy)").n)] | sort | join(" ")' <<<"$OUT"
}

no_change() {
    needs make_repo
    exits "it exits 0" 0 diff_of base..words "$TMPDIR/plan.json" --variant gpu
    like "it says so in a line" "$OUT" "^[0-9a-f]{12}\.\.[0-9a-f]{12}: 6 kernels: 6 identical$"
    exits "and for builds without device code" 0 diff_of base..words "$TMPDIR/plan.json" --variant host
    like "it says that of the files" "$OUT" ": the built files are identical$"
    [ ! -e "$DB" ]
    ok "no store was made" $?
    is "the node keeps no run" "$(find "$TMPDIR/work/runs" -mindepth 1 -maxdepth 1 | wc -l)" 0
}

inlined() {
    needs make_repo
    exits "it exits 1" 1 diff_of words..header "$TMPDIR/plan.json" --variant gpu --json
    is "only the kernel that inlines it changed" "$(states)" "changed:inlines"
    is "its resources are there before and after" "$(jq -r '.variants[].kernels[] | select(.state == "changed")
        | [.before, .after | .resources.vgprs | type] | join(" ")' <<<"$OUT")" "number number"
}

names() {
    needs make_repo
    exits "it exits 1" 1 diff_of header..names "$TMPDIR/plan.json" --variant gpu --json
    is "a new name is no new code" "$(states)" "gone:dropped moved:travels new:added renamed:longer_name"
    like "the former name is told" "$(jq -r '.variants[].kernels[] | select(.state == "renamed").was' <<<"$OUT")" old_name
    exits "as text" 1 diff_of header..names "$TMPDIR/plan.json" --variant gpu
    like "the former name is told there, too" "$OUT" "gpu +a_new_and_much_longer_name_of_it +renamed +was old_name"
    like "and the namespace" "$OUT" "elsewhere::travels +moved +was a::travels"
}

# The base is built with its own Makefile.
build_files() {
    needs make_repo
    exits "it exits 1" 1 diff_of names..flags "$TMPDIR/plan.json" --variant gpu --json
    is "only what the flag concerns changed" "$(states)" "changed:branchy"
    exits "the other way round" 1 diff_of flags..names "$TMPDIR/plan.json" --variant gpu --json
    is "it is the same" "$(states)" "changed:branchy"
}

host_code() {
    needs make_repo
    exits "it exits 1" 1 diff_of flags..host "$TMPDIR/plan.json" --json
    is "the build without device code changed, the kernels did not, of a script nothing is known" \
        "$(jq -r '[.variants[].state] | join(" ")' <<<"$OUT")" "identical changed unknown"
    like "and why" "$(jq -r '.variants[2].reason' <<<"$OUT")" "the tests also name files of the sources"
    exits "a script is not known to be the same" 1 diff_of base..words "$TMPDIR/plan.json" --variant script
}

refusals() {
    needs make_repo
    exits "a build that fails exits 2" 2 diff_of host..broken "$TMPDIR/plan.json"
    like "and is named" "$OUT" "gpu +- +failed +at broken: build command 1"
    exits "one revision is no range" 2 diff_of base "$TMPDIR/plan.json"
    one_line "in one line" "$ERR"
    exits "nor are three dots" 2 diff_of base...words "$TMPDIR/plan.json"
    exits "a revision that is not there" 2 diff_of base..nowhere "$TMPDIR/plan.json"
    exits "two runs have no revisions" 2 diff_of base..words "$TMPDIR/plan.json" "$TMPDIR/plan.json"
    exits "a run alone is refused" 2 ks diff latest
}

if command -v hipcc >/dev/null; then
    scenario "a change of words" no_change
    scenario "a header that is inlined" inlined
    scenario "renamed, moved, new and gone kernels" names
    scenario "build files only" build_files
    scenario "host code, and scripts" host_code
    scenario "what is refused" refusals
else
    skip_scenario "revisions" "hipcc is not installed (scripts/install-deps gpu)"
fi
done_testing
