#!/usr/bin/env bash
# A kernel plan, from its shapes to the report: attn_bench on the CPU device layer, and sdpa.py, which has no PyTorch here.
# timeout: 600
. tests/lib.sh
. tests/pipeline.sh

# One program of both kernels, kept between runs, in the place of each variant's own build.
programs=${BUILD%/sanitize}/kernels/cpu-plan
passes "attn_bench is built" make -s -C kernels PLATFORM=cpu VARIANT=baseline,serial_bh BUILD="$programs" attn_bench

jq --arg work "$TMPDIR/work" --arg src "$PWD" --arg program "$programs/attn_bench" '
    .workdir = $work | .source.dir = $src | .contexts = [4, 33] | .shapes = [{batch: 1, heads: [1, 2], head_dim: 64}]
    | .variants[] |= if .build then .build = [["cp", $program, "{build}/attn_bench"]] else . end' \
    harness/plans/kernels_cpu.json >"$TMPDIR/plan.json"
# Without the packages of the site there is no PyTorch, wherever this runs.
sed -i 's/"python3"/"python3", "-S"/' "$TMPDIR/plan.json"

exits "a kernel plan is swept" 0 ks_run "$TMPDIR/plan.json" --tag sweep --fail-on failure
like "its cells are in the table" "$OUT$ERR" 'serial_bh_b1h2'
bundle=$(bundle_of sweep)
is "each variant is measured at each shape" "$(jq -r '[.tests[] | select(.exit_status == "OK")] | length' "$bundle/summary.json")" 8
is "the shapes share a build" \
    "$(jq -r 'select(.event == "BUILD_END") | .status' "$bundle/events.jsonl" | sort | uniq -c | xargs)" "2 CACHED 2 OK"
is "each met its gate of accuracy" "$(jq -c '[.variants[].gates[] | .number < 1e-5] | [length, all]' "$bundle/summary.json")" '[4,true]'
is "sdpa is skipped with its reason" "$(jq -r .reason "$bundle/sdpa_flash_b1h2/ctx_33_run1/perf.json" | cut -d ' ' -f 1-3)" "no PyTorch in"
exits "sdpa.py reads traces, and pins ROCm's back-ends" 0 kernels/tests/test_sdpa.py
is "the job has the shape" "$(jq -c '.variants[-2].shape' "$bundle/job.json")" \
    '{"batch":1,"causal":true,"dtype":"f32","head_dim":64,"heads":2,"kv_heads":2}'
is "the workload ran it" "$(jq -c '.timings | [.batch, .heads, .seq, .head_dim]' "$bundle/serial_bh_b1h2/ctx_33_run1/perf.json" |
    sed 's/\.0//g')" '[1,2,33,64]'
is "the store knows kernel and shape" \
    "$(sql "SELECT name, kernel, shape FROM variant ORDER BY position LIMIT 4 OFFSET 1" | head -n 1)" "serial_bh_b1h1|serial_bh|b1h1"
exits "a report is written" 0 ks report "$bundle" --kind kernel
like "the sweep over batch and heads is in it" "$OUT" '^\| .serial_bh. +\| +33 +\| +1 +\| +2 +\|'
like "each shape is set against the baseline's at it" "$(ks report "$bundle")" '^\| +33 +\| .serial_bh_b1h2. .*x \|'
exits "a variant's name stands for all of its shapes" 0 ks run "$TMPDIR/plan.json" --variants serial_bh --dry-run
is "and its own for one" "$(ks run "$TMPDIR/plan.json" --variants baseline_b1h2,serial_bh --dry-run | grep -c 'run 1')" 6
exits "runs of kernel plans compare" 0 ks compare "$bundle" --within --json
is "shape by shape" "$(jq -r '[.cells[].variant] | unique | join(" ")' <<<"$OUT")" "sdpa_flash_b1h1 sdpa_flash_b1h2 serial_bh_b1h1 serial_bh_b1h2"
exits "a second run builds nothing" 0 ks_run "$TMPDIR/plan.json" --tag again --variants serial_bh --contexts 4
is "at any shape" "$(jq -r 'select(.event == "BUILD_END") | .status' "$(bundle_of again)/events.jsonl" | sort -u)" CACHED
done_testing
