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

gpu 500 0
node=$(x probe --proc "$TMPDIR/proc")
is "the GPU's facts" "$(jq -r '.gpus[0] | [.name, .arch, .driver, .vram_total_bytes, .vram_used_bytes] | join("|")' <<<"$node")" \
    "Fake H100|sm_90|550.1|68719476736|524288000"
is "who uses it" "$(jq -c '.gpu_processes' <<<"$node")" '[{"pid":4321,"vram_bytes":777}]'
ok "the helper ends with the probe" "$(until_true 10 sh -c '! pgrep -f "^kernsweep-nvml$"' && echo 0 || echo 1)"

job level "$(one "$(jq -nc --arg s "echo $((3000 * 1048576)) 97 >$FAKE_NVML; sleep 0.6; echo $((510 * 1048576)) 0 >$FAKE_NVML; $good" \
    '{run: ["sh", "-c", $s]}')" | jq -c '. + {sample_interval_ms: 20}')"
x submit --proc "$TMPDIR/proc" <"$TMPDIR/level.json" >/dev/null
x follow --run level >/dev/null
is "the level before, the peak, the level after" \
    "$(perf level '.vram | [.before_bytes, .peak_bytes, .after_bytes] | map(. / 1048576) | join(" ")')" "500 3000 510"
is "load, bandwidth and power" "$(perf level '.peaks | [.gpu_busy, .mem_busy, .power_w] | join(" ")')" "97 11 312.5"
is "the helper is not taken for something that the test left" "$(perf level '.cleanup | [.group_gone, .leftovers] | join(" ")')" "true 0"
is "its CPU time is counted" "$(perf level '.sampler.cpu_s > 0')" true
ok "it ends with the run" "$(until_true 10 sh -c '! pgrep -f "^kernsweep-nvml$"' && echo 0 || echo 1)"

job leak "$(jq -nc --arg s "echo $((3000 * 1048576)) 0 >$FAKE_NVML; $good" --arg g "$good" \
    '{vram_settle_s: 0.3, variants: [{name: "v", run: ["sh", "-c", $s]}, {name: "next", run: ["sh", "-c", $g]}],
      tests: [{variant: "v"}, {variant: "next"}]}')"
gpu 500 0
x submit --proc "$TMPDIR/proc" <"$TMPDIR/leak.json" >/dev/null
x follow --run leak >/dev/null
like "memory that stays makes the node dirty" "$(perf leak .reason next)" 'GPU memory stays at 3000 MiB'

gpu 500 0
job hang "$(one '{"run": ["sh", "-c", "while :; do :; done"]}' | jq -c '. + {hang_after_s: 0.6}')"
x submit --proc "$TMPDIR/proc" <"$TMPDIR/hang.json" >/dev/null
x follow --run hang >/dev/null
is "busy with an idle GPU: HANG" "$(perf hang .exit_status)" HANG

job killed "$(one '{"run": ["sleep", "1000"]}')"
x submit --proc "$TMPDIR/proc" <"$TMPDIR/killed.json" >/dev/null
waits killed '.event == "TEST_START"'
passes "the helper runs" helpers
kill -9 "$(supervisor killed)"
ok "it ends when the executor is killed" "$(until_true 10 sh -c '! pgrep -f "^kernsweep-nvml$"' && echo 0 || echo 1)"
x cancel --run killed >/dev/null

export KERNSWEEP_NVML_LIBRARY=$TMPDIR/nothing.so
is "without the library the node has no known GPU memory" "$(x probe --proc "$TMPDIR/proc" | jq -c .gpus)" '[]'
job without "$(one "$(jq -nc --arg g "$good" '{run: ["sh", "-c", $g]}')")"
x submit --proc "$TMPDIR/proc" <"$TMPDIR/without.json" >/dev/null
x follow --run without >/dev/null
is "   and tests run without" "$(perf without '"\(.exit_status) \(.vram.available)"')" "OK false"
done_testing
