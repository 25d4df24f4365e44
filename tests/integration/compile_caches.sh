#!/usr/bin/env bash
# Caches of what programs compile while they run: one per build, so that no test runs what another build's tests compiled, and
# a first compile is seen in the record and in the evidence.
# timeout: 300
# shellcheck disable=SC2016 # jq and the workload expand these
. tests/lib.sh
. tests/pipeline.sh

# The workload compiles like one that knows a kernel by its name only: what is in the cache runs, whatever the sources say.
# It takes 28 s for the first time, and the kernel's time is the sources'.
tree() {
    mkdir -p "$TMPDIR/src"
    cat >"$TMPDIR/src/run.sh" <<'END2'
mkdir -p "$TRITON_CACHE_DIR"
first=0
test -e "$TRITON_CACHE_DIR/kernel" || { first=28; cp "$1/kernel" "$TRITON_CACHE_DIR/kernel"; }
env >"$2/env"
awk -v t="$(cat "$TRITON_CACHE_DIR/kernel")" -v first="$first" 'BEGIN { printf "[PERF_TIMING] {\"prefill_s\": %.3f}\n", t + first }'
END2
    echo 10 >"$TMPDIR/src/kernel"
    jq -n --arg dir "$TMPDIR" '{schema: "kernsweep.plan/1", ticket: "caches", node: "local", workdir: ($dir + "/work"), clock: "simulated",
        source: {dir: ($dir + "/src")}, contexts: [16], timeouts: {default: 60},
        variants: [{name: "v", run: ["sh", "{src}/run.sh", "{src}", "{out}"]}]}' >"$TMPDIR/plan.json"
}

# sweep TAG [OPTION...]
sweep() {
    exits "$1 runs" 0 ks_run "$TMPDIR/plan.json" --tag "$@"
}

id_of() {
    sql "SELECT run_id FROM run WHERE tag = '$1'"
}

compiled() {
    jq -r .compiled "$(bundle_of "$1")"/v/ctx_16_run"${2:-1}"/perf.json
}

prefill() {
    jq -r .timings.prefill_s "$(bundle_of "$1")"/v/ctx_16_run"${2:-1}"/perf.json
}

# of TAG VARIABLE: what the first test got.
of() {
    sed -n "s/^$2=//p" "$(bundle_of "$1")/v/ctx_16_run1/env"
}

by_build() {
    tree
    sweep cold
    is "the first test of a build compiles" "$(prefill cold) $(compiled cold)" "38 1"
    sweep warm
    is "the next run of the same sources does not" "$(prefill warm) $(compiled warm)" "10 0"
    is "since it has the same caches" "$(of warm TRITON_CACHE_DIR)" "$(of cold TRITON_CACHE_DIR)"
    echo 12 >"$TMPDIR/src/kernel"
    sweep changed --repeat 16:3
    is "other sources have others, and run their own kernel" "$(prefill changed 1) $(prefill changed 2)" "40 12"
    exits "what is compared with a warm run" 0 ks compare "$(id_of warm)" "$(id_of changed)"
    like "says that a first compile may be in it" "$OUT" "1 of 3 values now may have a first compile in them"
    exits "and the other way round" 0 ks compare "$(id_of cold)" "$(id_of warm)"
    like "that it may be in the base" "$OUT" "; 1 of 1 values in the base may have a first compile in them"
    sweep fresh --fresh
    is "a build that is made anew starts without" "$(prefill fresh)" "40"
}

by_plan() {
    tree
    jq '.env = {TRITON_CACHE_DIR: "'"$TMPDIR"'/shared"} | .variants[0].env = {XDG_CACHE_HOME: "{out}/cache"}' "$TMPDIR/plan.json" >"$TMPDIR/plan2.json"
    mv "$TMPDIR/plan2.json" "$TMPDIR/plan.json"
    sweep own
    is "the plan's own folder is used" "$(of own TRITON_CACHE_DIR)" "$TMPDIR/shared"
    is "of which nobody knows what was compiled" "$(compiled own)" null
    like "the others are the build's" "$(of own MIOPEN_CUSTOM_CACHE_DIR)" "^$TMPDIR/work/compiled/"
    is "models are downloaded to where they always are" "$(of own HF_HOME)" "$HOME/.cache/huggingface"
}

without_sources() {
    tree
    jq 'del(.source) | .variants[0].run = ["sh", "'"$TMPDIR"'/src/run.sh", "'"$TMPDIR"'/src", "{out}"]' "$TMPDIR/plan.json" >"$TMPDIR/plan2.json"
    mv "$TMPDIR/plan2.json" "$TMPDIR/plan.json"
    sweep one --repeat 16:2
    sweep two
    is "a run whose sources are not known has caches of its own" "$(prefill one 1) $(prefill one 2) $(prefill two)" "38 10 38"
}

scenario "each build has its caches" by_build
scenario "the plan may name others" by_plan
scenario "what is not sent may have changed" without_sources
done_testing
