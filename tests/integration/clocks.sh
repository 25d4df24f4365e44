#!/usr/bin/env bash
# A plan with clocks, from the command: set, seen, put back, shown by check; also when the executor is killed and the run attached.
. tests/lib.sh
. tests/pipeline.sh
. tests/tree.sh
. tests/amdgpu.sh

unset HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES SLURM_JOB_ID
amdgpu_node "$TMPDIR/node"
rm -rf "$ROOT/sys/class/drm/card2" "$ROOT/sys/class/kfd/kfd/topology/nodes/3"
pipeline_setup
trap amdgpu_stop EXIT
amdgpu_start
load="cd $CARD; echo 1400000000 >hwmon/hwmon1/freq1_input; echo 98 >gpu_busy_percent; sleep 0.7; echo 0 >gpu_busy_percent; echo '[PERF_TIMING] {\"prefill_s\": 1}'"

# clocked FILE SCRIPT: a plan with one test that runs the script at 1400 MHz
clocked() {
    s=$2 plan_with '.clocks = {mode: "fixed", mhz: 1400} | .sampling.interval_ms = 20 | .contexts = [16] | .repetitions = {default: 1} | .warmup = 0
        | del(.reference, .baseline, .gates, .order) | .variants = [{name: "v", run: ["sh", "-c", env.s]}]' "$1"
}

export s

sweep() {
    clocked "$TMPDIR/sweep.json" "$load"
    exits "run exits 0" 0 ks_run "$TMPDIR/sweep.json" --tag sweep
    is "the bundle says that the clocks were seen" "$(jq -c '.clocks | [.mode, .mhz, .verified]' "$(bundle_of sweep)/summary.json")" '["fixed",1400,true]'
    is "the store has them among the facts of the node" "$(sql "SELECT value FROM fact WHERE key = 'clocks.mhz'")" 1400
    clocks_are "the clocks are as before" "auto 500 2100"
}

# started TAG: a run whose first attempt waits; sets RUN
started() {
    clocked "$TMPDIR/$1.json" "[ -e $TMPDIR/$1.began ] && { $load; exit; }; touch $TMPDIR/$1.began; sleep 1000"
    RUN=$(ks_run "$TMPDIR/$1.json" --tag "$1" --detach 2>/dev/null | head -n 1)
    until_true 30 test -e "$TMPDIR/$1.began"
}

supervisor() {
    "$KERNSWEEP_EXECUTOR" status --workdir "$TMPDIR/work" --run "$RUN" | jq -r '.[0].pid'
}

attached() {
    started attached
    OUT=$(ks check local)
    like "check shows the run that holds them" "$OUT" "^ok +held clocks +GPU 1d0fbe6a2a1c0000: fixed at 1400 MHz, by the run $RUN"
    kill -9 "$(supervisor)"
    OUT=$(ks check local)
    like "once its executor is killed, check warns" "$OUT" "^warning +left clocks GPU 1d0fbe6a2a1c0000 still has the clocks .* of the run $RUN of user $(id -u), whose executor died"
    exits "attach exits 0" 0 ks attach "$RUN"
    clocks_are "the clocks are as before" "auto 500 2100"
    is "what was before is not what the first attempt set" "$(jq -r '.clocks.gpus[0].level_before' "$(bundle_of attached)/summary.json")" auto
}

cancelled() {
    started cancelled
    kill -9 "$(supervisor)"
    exits "cancel exits 0" 0 ks cancel "$RUN"
    clocks_are "the clocks are as before" "auto 500 2100"
}

refused() {
    clocked "$TMPDIR/short.json" "echo '[PERF_TIMING] {\"prefill_s\": 1}'"
    exits "run exits 3" 3 ks_run "$TMPDIR/short.json" --tag short
    like "its error says why" "$ERR" 'too few samples under load'
}

scenario "a sweep with fixed clocks" sweep
scenario "a run that is attached after its executor was killed" attached
scenario "a run that is cancelled after its executor was killed" cancelled
scenario "a run whose clocks were not seen" refused
done_testing
