#!/usr/bin/env bash
# A kernel plan, from its shapes to the report: attn_bench on the CPU device layer, and sdpa.py, which has no PyTorch here.
. tests/lib.sh
. tests/kernels.sh
. tests/pipeline.sh

# One program of both kernels, kept between runs, in the place of each variant's own build.
programs=${BUILD%/sanitize}/kernels/cpu-plan

plan_for_the_cpu() {
    make -s -C kernels PLATFORM=cpu VARIANT=baseline,serial_bh WERROR=1 CXX="$KERNELS_CXX" BUILD="$programs" attn_bench &&
        jq --arg work "$TMPDIR/work" --arg src "$PWD" --arg program "$programs/attn_bench" '
            .workdir = $work | .source.dir = $src | .contexts = [4, 33] | .shapes = [{batch: 1, heads: [1, 2], head_dim: 64}]
            | .variants[] |= if .build then .build = [["cp", $program, "{build}/attn_bench"]] else . end' \
            harness/plans/kernels_cpu.json >"$TMPDIR/plan.json" &&
        # Without the packages of the site there is no PyTorch, wherever this runs.
        sed -i 's/"python3"/"python3", "-S"/' "$TMPDIR/plan.json"
}

kernel_sweep() {
    needs plan_for_the_cpu
    try_once sweep ks_run "$TMPDIR/plan.json" --tag sweep --fail-on failure
    bundle=$(bundle_of sweep)
}

swept() {
    kernel_sweep
    passes "attn_bench is built" test -x "$programs/attn_bench"
    exited "exits 0" 0
    like "the table names variant and shape" "$OUT$ERR" 'serial_bh_b1h2'
    is "each variant is measured at each shape" "$(jq -r '[.tests[] | select(.exit_status == "OK")] | length' "$bundle/summary.json")" 8
    is "the shapes of a variant share its build" \
        "$(jq -r 'select(.event == "BUILD_END") | .status' "$bundle/events.jsonl" | sort | uniq -c | xargs)" "2 CACHED 2 OK"
    is "each variant passes its gate on accuracy" "$(jq -c '[.variants[].gates[] | .number < 1e-5] | [length, all]' "$bundle/summary.json")" '[4,true]'
    is "job.json has the shape" "$(jq -c '.variants[-2].shape' "$bundle/job.json")" \
        '{"batch":1,"causal":true,"dtype":"f32","head_dim":64,"heads":2,"kv_heads":2}'
    is "the workload measured that shape" "$(jq -c '.timings | [.batch, .heads, .seq, .head_dim]' "$bundle/serial_bh_b1h2/ctx_33_run1/perf.json" |
        sed 's/\.0//g')" '[1,2,33,64]'
    is "the store has name, kernel and shape" \
        "$(sql "SELECT name, kernel, shape FROM variant JOIN run ON run.id = variant.run_id WHERE tag = 'sweep'
                ORDER BY position LIMIT 4 OFFSET 1" | head -n 1)" "serial_bh_b1h1|serial_bh|b1h1"
}

sdpa() {
    kernel_sweep
    is "without PyTorch it is skipped with the reason" "$(jq -r .reason "$bundle/sdpa_flash_b1h2/ctx_33_run1/perf.json" | cut -d ' ' -f 1-3)" "no PyTorch in"
    exits "it reads traces and selects ROCm's back-ends" 0 kernels/tests/test_sdpa.py
}

report() {
    kernel_sweep
    exits "report exits 0" 0 ks report "$bundle" --kind kernel
    like "it has the sweep over batch and heads" "$OUT" '^\| .serial_bh. +\| +33 +\| +1 +\| +2 +\|'
    like "each shape is compared with the baseline's at that shape" "$(ks report "$bundle")" '^\| +33 +\| .serial_bh_b1h2. .*x \|'
}

selected() {
    needs plan_for_the_cpu
    exits "--variants takes the variant's name for all its shapes" 0 ks run "$TMPDIR/plan.json" --variants serial_bh --dry-run
    is "--variants takes a name with a shape for that shape only" \
        "$(ks run "$TMPDIR/plan.json" --variants baseline_b1h2,serial_bh --dry-run | grep -c 'run 1')" 6
}

compared() {
    kernel_sweep
    exits "compare --within exits 0" 0 ks compare "$bundle" --within --json
    is "every variant is compared at its shape" "$(jq -r '[.cells[].variant] | unique | join(" ")' <<<"$OUT")" "sdpa_flash_b1h1 sdpa_flash_b1h2 serial_bh_b1h1 serial_bh_b1h2"
}

built_before() {
    kernel_sweep
    exits "exits 0" 0 ks_run "$TMPDIR/plan.json" --tag again --variants serial_bh --contexts 4
    is "the builds of all shapes are CACHED" "$(jq -r 'select(.event == "BUILD_END") | .status' "$(bundle_of again)/events.jsonl" | sort -u)" CACHED
}

scenario "a sweep of a kernel plan" swept
scenario "sdpa.py" sdpa
scenario "the report of a kernel plan" report
scenario "variants of a kernel plan" selected
scenario "compare of a kernel plan's run" compared
scenario "a second sweep of a kernel plan" built_before
done_testing
