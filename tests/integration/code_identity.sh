#!/usr/bin/env bash
# Code identity with the real compilers: building a source twice, in two folders, gives the same; a comment, or the
# host's code, changes nothing; one instruction changes its kernel and the build, and no other kernel.
# unsanitized: compilers for GPUs for the most part; the readers of objects are fuzzed
. tests/lib.sh
. tests/compiled.sh
. tests/executor.sh
. tests/pipeline.sh

NVCC=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)

# source_of DIR [SED]: a program with kernels of every kind of name, in DIR, changed by a sed expression.
source_of() {
    mkdir -p "$1"
    sed -e "${2:-}" >"$1/kernels.cu" <<'END'
#ifdef __HIP__
#include <hip/hip_runtime.h>
#endif
// a comment
__constant__ float table[4] = {1, 2, 3, 4};
__device__ float total[3] = {3, 2, 1};
static __device__ float hidden[3] = {3, 2, 1};
__device__ __attribute__((noinline)) float helper(float a) { return a * total[1]; }
namespace {
__global__ void local(float *x) { x[threadIdx.x] *= 2; }
}
__global__ void first(float *x) { x[threadIdx.x] += 5; }
__global__ void second(float *x) {
    extern __shared__ float shared[];
    shared[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = helper(shared[threadIdx.x ^ 1]) + hidden[threadIdx.x % 3] + table[threadIdx.x & 3];
}
int main(int argc, char **) {
    float *x = nullptr;
    int blocks = argc > 7 ? 7 : 1;
    local<<<blocks, 32>>>(x);
    first<<<blocks, 32>>>(x);
    second<<<blocks, 32, 128>>>(x);
}
END
}

amd_libs() {
    kernels/tools/amd-offline.sh device-libs gfx942 "$TMPDIR/libs"
}

# compile_TOOL DIR: into DIR/build
compile_gfx942() {
    compiled "$1/build/kernels.co" "$1/kernels.cu" clang++-19 -x hip --offload-arch=gfx942 --rocm-device-lib-path="$TMPDIR/libs" \
        -O3 --offload-device-only --no-gpu-bundle-output -o "$1/build/kernels.co" "$1/kernels.cu"
}

compile_gfx90a() {
    compiled "$1/build/kernels.o" "$1/kernels.cu" hipcc -x hip --offload-arch=gfx90a -O3 -Wno-unused-result -c \
        -o "$1/build/kernels.o" "$1/kernels.cu"
}

compile_sm_90a() {
    compiled "$1/build/kernels.o" "$1/kernels.cu" "$NVCC" -arch=sm_90a -O3 -c -o "$1/build/kernels.o" "$1/kernels.cu"
}

# link_TOOL OBJECT PROGRAM
link_gfx90a() {
    compiled "$2" "$1" hipcc --offload-arch=gfx90a -o "$2" "$1"
}

link_sm_90a() {
    compiled "$2" "$1" "$NVCC" -arch=sm_90a -o "$2" "$1"
}

# build TOOL NAME [SED]: builds the source, changed by SED, in a folder of its own; identity in $TMPDIR/TOOL/NAME/code.json
build() {
    local dir=$TMPDIR/$1/$2
    source_of "$dir" "${3:-}"
    mkdir -p "$dir/build"
    "compile_$1" "$dir" >"$dir/log" 2>&1 || {
        diag "$(cat "$dir/log")"
        return 1
    }
    x code --path "$dir/build" >"$dir/code.json"
}

code() {
    jq -r "$3" "$TMPDIR/$1/$2/code.json"
}

# kernels_changed TOOL NAME: the kernels whose hash differs from that of the first build
kernels_changed() {
    jq -rn --slurpfile a "$TMPDIR/$1/base/code.json" --slurpfile b "$TMPDIR/$1/$2/code.json" '
        ($a[0].kernels | map({(.name): .sha256}) | add) as $was
        | [$b[0].kernels[] | select(.sha256 != $was[.name]).name | capture("(?<n>local|first|second)").n] | sort | join(" ")'
}

same_as_first() {
    is "$3" "$(code "$1" "$2" .sha256)" "$(code "$1" base .sha256)"
}

other_than_first() {
    [ "$(code "$1" "$2" .sha256)" != "$(code "$1" base .sha256)" ]
    ok "the identity of the build changes" $?
    is "$3" "$(kernels_changed "$1" "$2")" "$4"
}

twice() {
    needs build "$1" base
    needs build "$1" a/longer/folder
    is "it is of device code" "$(code "$1" base .kind)" device
    is "it lists the kernels" "$(code "$1" base '[.kernels[].name | capture("(?<n>local|first|second)").n] | sort | join(" ")')" "first local second"
    same_as_first "$1" a/longer/folder "two folders give one identity"
    is "every kernel has the same hash in both" "$(kernels_changed "$1" a/longer/folder)" ""
}

host_only() {
    needs build "$1" base
    needs build "$1" host 's/a comment/another comment/; s/argc > 7 ? 7 : 1/argc > 3 ? 9 : 2/'
    same_as_first "$1" host "the identity is the same"
}

one_instruction() {
    needs build "$1" base
    needs build "$1" instruction 's/+= 5/-= 5/'
    other_than_first "$1" instruction "only that kernel changes" first
}

# renamed TOOL: another name, longer than 31 characters, in a namespace: another identity, and the same body.
renamed() {
    needs build "$1" base
    needs build "$1" renamed 's/void first(float \*x) { \(.*\) }/void first(float *x);\nnamespace other { __global__ void a_first_kernel_with_a_name_that_is_much_longer(float *x) { \1 } }/
        s/first<<</other::a_first_kernel_with_a_name_that_is_much_longer<<</'
    needs build "$1" instruction 's/+= 5/-= 5/'
    is "the code has a new name" "$(code "$1" renamed '[.kernels[].name | select(test("first"))] | length' | xargs)" 1
    [ "$(code "$1" renamed .sha256)" != "$(code "$1" base .sha256)" ]
    ok "the identity of the build changes" $?
    is "the kernels have the same bodies" "$(code "$1" renamed '[.kernels[].body] | sort | unique | join(" ")')" \
        "$(code "$1" base '[.kernels[].body] | sort | unique | join(" ")')"
    [ "$(code "$1" instruction '.kernels[] | select(.name | test("first")).body')" != "$(code "$1" base '.kernels[] | select(.name | test("first")).body')" ]
    ok "other code has another one" $?
}

longer_kernel() {
    needs build "$1" base
    needs build "$1" longer 's/+= 5;/+= 5; for (int i = 0; i < 40; i++) x[i * 64 + threadIdx.x] *= x[i];/'
    other_than_first "$1" longer "kernels that move keep their hashes" first
}

called_function() {
    needs build "$1" base
    needs build "$1" called 's/return a \* total/return a + total/'
    other_than_first "$1" called "the kernel that calls it changes" second
}

constant() {
    needs build "$1" base
    needs build "$1" constant 's/table\[4\] = {1,/table[4] = {9,/'
    other_than_first "$1" constant "no kernel changes" ""
}

copies() {
    needs build "$1" base
    local dir=$TMPDIR/$1/copies
    mkdir -p "$dir/build/deeper"
    cp "$TMPDIR/$1/base/build/kernels.o" "$dir/build/z.o"
    passes "it is linked" "link_$1" "$TMPDIR/$1/base/build/kernels.o" "$dir/build/deeper/program"
    ar rc "$dir/build/lib.a" "$TMPDIR/$1/base/build/kernels.o"
    date >"$dir/build/stamp"
    x code --path "$dir/build" >"$dir/code.json"
    same_as_first "$1" copies "names, places, copies and other files do not count"
    strip "$dir/build/deeper/program" && x code --path "$dir/build/deeper" >"$dir/code.json"
    same_as_first "$1" copies "a stripped program has the identity of its objects"
}

# What nvcc compresses, Zstandard and its own, is the code that it is.
compressed_cubin() {
    local mode source=$TMPDIR/sm_90a/base/kernels.cu
    needs build sm_90a base
    for mode in none speed size; do
        mkdir -p "$TMPDIR/sm_90a/$mode"
        compiled "$TMPDIR/sm_90a/$mode/kernels.o" "$source" \
            "$NVCC" -arch=sm_90a -O3 -compress-mode="$mode" -c -o "$TMPDIR/sm_90a/$mode/kernels.o" "$source"
        x code --path "$TMPDIR/sm_90a/$mode/kernels.o" >"$TMPDIR/sm_90a/$mode/code.json"
        same_as_first sm_90a "$mode" "-compress-mode=$mode gives the same identity"
    done
}

line_numbers() {
    local source=$TMPDIR/sm_90a/base/kernels.cu
    needs build sm_90a base
    mkdir -p "$TMPDIR/sm_90a/lines"
    compiled "$TMPDIR/sm_90a/lines/kernels.o" "$source" \
        "$NVCC" -arch=sm_90a -O3 -lineinfo -c -o "$TMPDIR/sm_90a/lines/kernels.o" "$source"
    x code --path "$TMPDIR/sm_90a/lines/kernels.o" >"$TMPDIR/sm_90a/lines/code.json"
    same_as_first sm_90a lines "they do not count"
}

# number BYTES VALUE: little-endian
number() {
    local i value=$2
    for ((i = 0; i < $1; i++)); do
        # shellcheck disable=SC2059 # the format is the byte
        printf "\\x$(printf %02x $((value & 255)))"
        value=$((value >> 8))
    done
}

# A compressed bundle as clang 19 writes it (version 2): the bundle of an object of hipcc.
compressed_bundle() {
    local dir=$TMPDIR/gfx90a/compressed size packed
    needs build gfx90a base
    mkdir -p "$dir/build"
    objcopy -O binary --only-section=.hip_fatbin --set-section-flags .hip_fatbin=alloc "$TMPDIR/gfx90a/base/build/kernels.o" "$dir/bundle"
    zstd -q -c "$dir/bundle" >"$dir/packed"
    size=$(stat -c %s "$dir/bundle") packed=$(stat -c %s "$dir/packed")
    { printf CCOB && number 2 2 && number 2 1 && number 4 $((packed + 24)) && number 4 "$size" && number 8 0 && cat "$dir/packed"; } >"$dir/build/kernels.hipfb"
    x code --path "$dir/build" >"$dir/code.json"
    same_as_first gfx90a compressed "the identity is that of the bundle"
    truncate -s -9 "$dir/build/kernels.hipfb"
    x code --path "$dir/build" >"$dir/code.json"
    is "a damaged one counts as its bytes" "$(code gfx90a compressed '.kind, (.kernels | length)' | xargs)" "device 0"
}

# Every scenario for one compiler; $2: also linked.
toolchain() {
    scenario "$1: the same source twice" twice "$1"
    scenario "$1: a comment and the host's code" host_only "$1"
    scenario "$1: one instruction of one kernel" one_instruction "$1"
    scenario "$1: a kernel that is renamed" renamed "$1"
    scenario "$1: a kernel that becomes longer" longer_kernel "$1"
    scenario "$1: a function that a kernel calls" called_function "$1"
    scenario "$1: a constant" constant "$1"
    [ -z "${2:-}" ] || scenario "$1: copies of the code" copies "$1"
}

# Without device code: files DIR [SED]
compile_c() {
    mkdir -p "$1/build"
    sed -e "${2:-}" >"$1/main.c" <<'END'
/* a comment */
#include <stdio.h>
int main(void) { return printf("%s %s %s\n", __FILE__, __DATE__, __TIME__) * 3; }
END
    (cd "$1" && gcc -O2 -g -c -o build/main.o main.c && gcc -g -o build/program build/main.o -Wl,--build-id &&
        echo "$PWD/build" >build/where.txt && date >build/build.log)
}

files() {
    local a=$TMPDIR/c/a b=$TMPDIR/c/some/longer/folder
    compile_c "$a" && x code --path "$a/build" >"$a.json"
    sleep 1 # another __TIME__
    compile_c "$b" 's/a comment/another comment/' && x code --path "$b/build" >"$TMPDIR/c/b.json"
    is "it is of files" "$(jq -r .kind "$a.json")" files
    is "folders, dates, build ids, debug information and logs do not count" "$(cat "$TMPDIR/c/b.json")" "$(cat "$a.json")"
    compile_c "$b" 's/\* 3/* 4/' && x code --path "$b/build" >"$TMPDIR/c/b.json"
    [ "$(cat "$TMPDIR/c/b.json")" != "$(cat "$a.json")" ]
    ok "changed code changes the identity" $?
}

no_files() {
    mkdir -p "$TMPDIR/empty"
    exits "an empty folder is an error" 2 x code --path "$TMPDIR/empty"
    one_line "it is one line" "$ERR"
    exits "a path that is not there is an error" 2 x code --path "$TMPDIR/nowhere"
}

# In a run: the first build of it, and the cached one.
in_a_bundle() {
    job code1 "$(jq -nc '{variants: [{name: "v", build: [["sh", "-c", "echo 1 >{build}/script"]], run: ["true"]},
        {name: "unbuilt", run: ["true"]}], tests: [{variant: "v"}, {variant: "unbuilt"}]}')"
    run code1
    is "the bundle has it" "$(jq -r '.schema, .kind' "$(bundle code1)/v/code.json" | xargs)" "kernsweep.code/2 files"
    [ ! -e "$(bundle code1)/unbuilt/code.json" ]
    ok "a variant that builds nothing has none" $?
    job code2 "$(jq -c .job "$TMPDIR/code1.json" | jq -c '{variants, tests}')"
    run code2
    is "the build is cached" "$(summary code2 '.variants[0].build_cached')" true
    is "a cached build keeps it" "$(cat "$(bundle code2)/v/code.json")" "$(cat "$(bundle code1)/v/code.json")"
    rm -f "$WORK"/build/*/.code.json
    run_again code3
    is "a cached build of an older executor is hashed" "$(cat "$(bundle code3)/v/code.json")" "$(cat "$(bundle code1)/v/code.json")"
}

run_again() {
    job "$1" "$(jq -c .job "$TMPDIR/code1.json" | jq -c '{variants, tests}')"
    run "$1"
}

# Tests that run a script of the sources run more than what was built.
sources_that_run() {
    mkdir -p "$TMPDIR/scripts"
    jq -n --arg src "$TMPDIR/scripts" --arg work "$TMPDIR/ks" '
        def built($name): {name: $name, build: [["sh", "-c", "echo 1 >{build}/library"]]};
        {schema: "kernsweep.plan/1", clock: "simulated", ticket: "scripts", node: "local", workdir: $work, source: {dir: $src}, contexts: [16],
         timeouts: {default: 60}, variants: [built("argument") + {run: ["sh", "{src}/bench.sh"]},
            built("variable") + {run: ["sh", "-c", "exec sh \"$BENCH\""], env: {BENCH: "{src}/bench.sh"}},
            {name: "editable", build: [["sh", "-c", "mkdir {build}/site-packages; echo {src} >{build}/site-packages/bench.pth"]], run: ["echo"]},
            {name: "compiles", build: [["gcc", "-DCOMPILE=nvrtcCompileProgram", "-DSRC=\"{src}\"", "-o", "{build}/c", "{src}/c.c"]], run: ["echo"]},
            {name: "asserts", build: [["gcc", "-DCOMPILE=compile", "-DSRC=\"{src}\"", "-o", "{build}/c", "{src}/c.c"]], run: ["echo"]}]}' >"$TMPDIR/scripts.plan"
    echo 'const char *COMPILE(void) { return SRC "/kernel.cu"; } int main(void) { return !COMPILE(); }' >"$TMPDIR/scripts/c.c"
    echo "echo '[PERF_TIMING] {\"prefill_s\": 1}'" >"$TMPDIR/scripts/bench.sh"
    exits "the sweep exits 1: three print no time" 1 ks_run "$TMPDIR/scripts.plan" --tag script
    is "their code is not known" "$(jq -r '.kind' "$(bundle_of script)"/{argument,variable}/code.json | xargs)" "unknown unknown"
    is "nor is that of a build that points at the sources" "$(jq -r '.kind' "$(bundle_of script)"/{editable,compiles}/code.json | xargs)" "unknown unknown"
    like "which is named" "$(jq -r '.reason' "$(bundle_of script)/editable/code.json")" "^the built file site-packages/bench.pth runs what the sources have"
    is "a path in a message is no code" "$(jq -r '.kind' "$(bundle_of script)/asserts/code.json")" files
    like "and the bundle says why" "$(jq -r '.reason' "$(bundle_of script)/argument/code.json")" "the tests also name files of the sources"
}

# Device code beside what the tests take from the sources: a kernel of Triton's would lie there. Only such a script changes.
device_code_beside_scripts() {
    local dir=$TMPDIR/beside DB=$TMPDIR/beside.db
    mkdir -p "$dir"
    echo '__attribute__((global)) void fill(float *x) { x[0] += 5; }' >"$dir/kernel.hip"
    echo "echo '[PERF_TIMING] {\"prefill_s\": 1}'" >"$dir/bench.sh"
    jq -n --arg src "$dir" --arg work "$TMPDIR/ks" '
        def built: ["clang++-19", "-x", "hip", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc", "-O2", "--offload-device-only",
            "--no-gpu-bundle-output", "-o", "{build}/k.co", "{src}/kernel.hip"];
        {schema: "kernsweep.plan/1", clock: "simulated", ticket: "beside", node: "local", workdir: $work, source: {dir: $src}, contexts: [16],
         repetitions: 2, timeouts: {default: 60}, variants: [{name: "script", build: [built], run: ["sh", "{src}/bench.sh"]},
            {name: "prepared", build: [built], prepare: ["cp", "{src}/bench.sh", "."], run: ["sh", "bench.sh"]},
            {name: "editable", build: [built, ["sh", "-c", "mkdir {build}/site; echo {src} >{build}/site/bench.pth"]],
             run: ["sh", "-c", "read -r at <{build}/site/bench.pth && sh \"$at/bench.sh\""]}]}' >"$TMPDIR/beside.plan"
    git -C "$dir" init -q
    git -C "$dir" add -A
    git -C "$dir" -c user.name=a -c user.email=a@example.com commit -qm one
    exits "a run exits 0" 0 ks_run "$TMPDIR/beside.plan" --date 2026-03-01
    sed -i 's/1/1.3/' "$dir/bench.sh"
    git -C "$dir" -c user.name=a -c user.email=a@example.com commit -qam slower
    exits "--changed exits 0" 0 ks_run "$TMPDIR/beside.plan" --changed --date 2026-03-02
    is "it measures them all" "$(sql "SELECT count(*) FROM test t JOIN run r ON r.id = t.run_id WHERE r.date = '2026-03-02'")" 6
    local first=$TMPDIR/artifacts_remote/2026-03-01/beside second=$TMPDIR/artifacts_remote/2026-03-02/beside same='same (machine|device) code|not the code|device code and every'
    try ks compare "$first" "$second"
    exited "compare exits 4" 4
    like "compare finds it" "$OUT" 'script at 16: coincides with changed sources, whose machine code is not known$'
    unlike "and says of none that it is the same code" "$OUT" "$same"
    unlike "nor does the report" "$(ks report "$second" --against "$first")" "$same"
    try ks ab "$TMPDIR/beside.plan" --base HEAD~1 --head HEAD --artifacts "$TMPDIR/artifacts_remote" --json
    is "ab finds them slower" "$(jq -c '[.cells[].verdict]' <<<"$OUT")" '["regressed","regressed","regressed"]'
    try ks diff "$first" "$second" --variant script
    like "diff says where the reason stands" "$ERR" 'no code identity of script.*script/code.json'
}

# A build cannot tell its own identity.
forged() {
    job forged "$(jq -nc '{variants: [{name: "v", build: [["sh", "-c",
        "echo 2 >{build}/script; echo \"{\\\"schema\\\": \\\"kernsweep.code/2\\\", \\\"kind\\\": \\\"device\\\"}\" >{build}/.code.json"]],
        run: ["true"]}], tests: [{variant: "v"}]}')"
    run forged
    is "what the build wrote is not believed" "$(jq -r .kind "$(bundle forged)/v/code.json")" files
}

# From a plan to the store, with gcc: what each build made.
in_the_store() {
    mkdir -p "$TMPDIR/tree"
    echo 'int main(void) { return 0; }' >"$TMPDIR/tree/main.c"
    jq -n --arg src "$TMPDIR/tree" --arg work "$TMPDIR/ks" '
        def timing: ["sh", "-c", "echo \"[PERF_TIMING] {\\\"prefill_s\\\": 1}\""];
        def built($name; $flag): {name: $name, build: [["gcc", $flag, "-o", "{build}/main", "{src}/main.c"]], run: timing};
        {schema: "kernsweep.plan/1", clock: "simulated", ticket: "code", node: "local", workdir: $work, source: {dir: $src}, contexts: [16], timeouts: {default: 60},
         variants: [built("plain"; "-O0"), built("same"; "-g"), built("fast"; "-O2"), {name: "unbuilt", run: timing}]}' >"$TMPDIR/code.plan"
    exits "the sweep exits 0" 0 ks_run "$TMPDIR/code.plan" --tag one
    ks show latest --json >"$TMPDIR/show.json"
    is "show --json has an identity for what was built" \
        "$(jq -r '[.variants[] | select(.code).variant] | join(" ")' "$TMPDIR/show.json")" "plain same fast"
    is "it is the one of the bundle" "$(jq -r '.variants[0].code | .sha256, .kind' "$TMPDIR/show.json" | xargs)" \
        "$(jq -r '.sha256, .kind' "$(bundle_of one)/plain/code.json" | xargs)"
    is "the same code has the same identity, other code another" \
        "$(sql "SELECT count(DISTINCT code_sha256), sum(name IN ('plain', 'same') AND code_sha256 = (SELECT code_sha256 FROM variant WHERE name = 'plain')) FROM variant")" "2|2"
    is "export has it in every row" "$(ks export --format jsonl | jq -r 'select(.code_kind == "files").variant' | xargs)" "plain same fast"
    echo '// a comment' >>"$TMPDIR/tree/main.c"
    exits "the second sweep exits 0" 0 ks_run "$TMPDIR/code.plan" --tag two
    is "sources with another comment give the same identities" \
        "$(sql "SELECT count(DISTINCT code_sha256), count(DISTINCT source_sha256) FROM variant v JOIN run r ON r.id = v.run_id")" "2|2"
}

if command -v clang++-19 >/dev/null && command -v hipcc >/dev/null; then
    needs amd_libs
    toolchain gfx942
    scenario "device code beside scripts of the sources" device_code_beside_scripts
else
    skip_scenario "gfx942" "clang-19 or hipcc is not installed (scripts/install-deps gpu)"
fi
if command -v hipcc >/dev/null; then
    toolchain gfx90a linked
    scenario "gfx90a: a compressed bundle" compressed_bundle
else
    skip_scenario "gfx90a" "hipcc is not installed (scripts/install-deps gpu)"
fi
if [ -x "$NVCC" ]; then
    toolchain sm_90a linked
    scenario "sm_90a: compressed cubins" compressed_cubin
    scenario "sm_90a: line numbers" line_numbers
else
    skip_scenario "sm_90a" "nvcc is not installed"
fi
scenario "a build without device code" files
scenario "nothing to hash" no_files
scenario "the identity in a bundle" in_a_bundle
scenario "the identity in the store" in_the_store
scenario "tests that run a script of the sources" sources_that_run
scenario "an identity that a build wrote itself" forged
done_testing
