#!/usr/bin/env bash
# A node with an NVIDIA GPU: the helper that loads NVIDIA's library, played by a library of our own.
. tests/lib.sh
. tests/executor.sh

good='echo "[PERF_TIMING] {\"prefill_s\": 1}"'
mkdir -p "$TMPDIR/proc/driver/nvidia"
echo "NVRM version: some" >"$TMPDIR/proc/driver/nvidia/version"
export FAKE_NVML=$TMPDIR/gpu KERNSWEEP_NVML_LIBRARY=$TMPDIR/libfake.so
"${CC:-cc}" -shared -fPIC -o "$KERNSWEEP_NVML_LIBRARY" tests/fixtures/nvml/fake_nvml.c || skip_all "no compiler for the stand-in library"

# gpu MIB BUSY
gpu() {
    echo "$(($1 * 1048576)) $2" >"$FAKE_NVML"
}

helpers() {
    pgrep -x kernsweep-nvml || pgrep -f '^kernsweep-nvml$'
}

helper_ends() {
    until_true 10 sh -c '! pgrep -f "^kernsweep-nvml$"'
}

# with_gpu ID: submits the job on that node and follows it to its end.
with_gpu() {
    x submit --proc "$TMPDIR/proc" <"$TMPDIR/$1.json" >/dev/null
    x follow --run "$1" >/dev/null
}

facts() {
    local node
    gpu 500 0
    node=$(x probe --proc "$TMPDIR/proc")
    is "probe prints name, architecture, driver and memory" "$(jq -r '.gpus[0] | [.name, .arch, .driver, .vram_total_bytes, .vram_used_bytes] | join("|")' <<<"$node")" \
        "Fake H100|sm_90|550.1|68719476736|524288000"
    is "probe prints the processes on the GPU" "$(jq -c '.gpu_processes' <<<"$node")" '[{"pid":4321,"vram_bytes":777}]'
    helper_ends
    ok "the helper ends with the probe" $?
}

telemetry() {
    job level "$(one "$(jq -nc --arg s "echo $((3000 * 1048576)) 97 >$FAKE_NVML; sleep 0.6; echo $((510 * 1048576)) 0 >$FAKE_NVML; $good" \
        '{run: ["sh", "-c", $s]}')" | jq -c '. + {sample_interval_ms: 20}')"
    gpu 500 0
    with_gpu level
    is "memory before, at its peak and after is measured" \
        "$(perf level '.vram | [.before_bytes, .peak_bytes, .after_bytes] | map(. / 1048576) | join(" ")')" "500 3000 510"
    is "load, bandwidth and power are measured" "$(perf level '.peaks | [.gpu_busy, .mem_busy, .power_w] | join(" ")')" "97 11 312.5"
    is "the helper does not count as a leftover of the test" "$(perf level '.cleanup | [.group_gone, .leftovers] | join(" ")')" "true 0"
    is "the helper's CPU time counts as sampling" "$(perf level '.sampler.cpu_s > 0')" true
    helper_ends
    ok "the helper ends with the run" $?
}

leaked_memory() {
    job leak "$(jq -nc --arg s "echo $((3000 * 1048576)) 0 >$FAKE_NVML; $good" --arg g "$good" \
        '{vram_settle_s: 0.3, variants: [{name: "v", run: ["sh", "-c", $s]}, {name: "next", run: ["sh", "-c", $g]}],
          tests: [{variant: "v"}, {variant: "next"}]}')"
    gpu 500 0
    with_gpu leak
    like "the next test's reason has what is still in use" "$(perf leak .reason next)" 'GPU memory stays at 3000 MiB'
}

hang() {
    gpu 500 0
    job hang "$(one '{"run": ["sh", "-c", "while :; do :; done"]}' | jq -c '. + {hang_after_s: 0.6}')"
    with_gpu hang
    is "the test is HANG" "$(perf hang .exit_status)" HANG
}

executor_killed() {
    gpu 500 0
    job killed "$(one '{"run": ["sleep", "1000"]}')"
    x submit --proc "$TMPDIR/proc" <"$TMPDIR/killed.json" >/dev/null
    waits killed '.event == "TEST_START"'
    passes "the helper runs while the executor does" helpers
    kill -9 "$(supervisor killed)"
    helper_ends
    ok "the helper ends when the executor is killed" $?
    x cancel --run killed >/dev/null
}

no_library() {
    local -x KERNSWEEP_NVML_LIBRARY=$TMPDIR/nothing.so
    is "probe prints no GPU" "$(x probe --proc "$TMPDIR/proc" | jq -c .gpus)" '[]'
    job without "$(one "$(jq -nc --arg g "$good" '{run: ["sh", "-c", $g]}')")"
    with_gpu without
    is "a test is OK, without GPU memory" "$(perf without '"\(.exit_status) \(.vram.available)"')" "OK false"
}

scenario "the facts of an NVIDIA GPU" facts
scenario "the telemetry of a test on an NVIDIA GPU" telemetry
scenario "NVIDIA GPU memory that is not freed" leaked_memory
scenario "a test busy on the CPU with an idle NVIDIA GPU" hang
scenario "an executor that is killed beside its NVML helper" executor_killed
scenario "a node without NVIDIA's library" no_library
done_testing
