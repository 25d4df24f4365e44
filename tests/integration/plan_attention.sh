#!/usr/bin/env bash
# harness/plans/attention.json, v5 beside PyTorch's attention in one run, as far as a CPU goes: the plan's own commands on
# the kernels' CPU device and a small shape, where PyTorch's tests are skipped and say why.
# unsanitized: kernels on the CPU; a plan like any other for the rest
. tests/lib.sh
. tests/kernels.sh

PLAN=harness/plans/attention.json

# The plan built for the CPU, 2 heads (one K/V head where there are 8) and one timed launch instead of 32 and 20.
cpu_sweep() {
    jq --arg cxx "$KERNELS_CXX" --arg dir "$PWD" --arg workdir "$TMPDIR/work" '
        def small: {"PLATFORM=nvidia": "PLATFORM=cpu", "ARCH=sm_90a": "WERROR=1", "32": "2", "8": "1", "20": "1", "1025": "65"}[.] // .;
        .node = "local" | .workdir = $workdir | .source.dir = $dir | .contexts = [130] | .repetitions = 1 | .warmup = 0
        | .variants |= map(if .build then .build[0] |= map(small) + ["CXX=" + $cxx] else . end
            | if .gates then .gates[0].run |= map(small) else . end | .run |= map(small))' "$PLAN" >"$TMPDIR/plan.json"
    "$KERNSWEEP" run "$TMPDIR/plan.json" --variants sdpa_flash,sdpa_cudnn,v5 --db "$TMPDIR/results.db" \
        --artifacts "$TMPDIR/artifacts"
}

# perf VARIANT FILTER
perf() {
    jq -r "$2" "$TMPDIR"/artifacts/*/*/"$1"/ctx_130_run1/perf.json 2>&1
}

the_plan() {
    exits "--dry-run accepts it" 0 "$KERNSWEEP" run "$PLAN" --dry-run --db "$TMPDIR/results.db"
}

kernel() {
    try_once sweep cpu_sweep
    is "it is built, passes its gate and is timed" "$(perf v5 '"\(.exit_status) \(.timings.attn_impl)"')" "OK v5_mma" || diag "$OUT" "$ERR"
    is "its result was compared with fp64" "$(perf v5 '.timings.rel_l2 > 0 and .timings.rel_l2 < 4e-3')" true
}

without_pytorch() {
    try_once sweep cpu_sweep
    is "its test is SKIPPED" "$(perf "$1" .exit_status)" SKIPPED
    like "the reason says what is missing" "$(perf "$1" .reason)" 'no PyTorch in|sees no GPU'
}

scenario "the attention plan" the_plan
scenario "v5 of the attention plan on the CPU" kernel
scenario "sdpa_flash on a machine without a GPU" without_pytorch sdpa_flash
scenario "sdpa_cudnn on a machine without a GPU" without_pytorch sdpa_cudnn
done_testing
