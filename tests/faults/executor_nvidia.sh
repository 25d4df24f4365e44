#!/usr/bin/env bash
# A node with an NVIDIA GPU: the helper that loads NVIDIA's library, played by a library of our own.
. tests/lib.sh
. tests/executor.sh

mkdir -p "$TMPDIR/proc/driver/nvidia"
echo "NVRM version: some" >"$TMPDIR/proc/driver/nvidia/version"
SUBMIT=(--proc "$TMPDIR/proc")
export FAKE_NVML=$TMPDIR/gpu KERNSWEEP_NVML_LIBRARY=$TMPDIR/libfake.so
"${CC:-cc}" -shared -fPIC -o "$KERNSWEEP_NVML_LIBRARY" tests/fixtures/nvml/fake_nvml.c || skip_all "no compiler for the stand-in library"

# gpu MIB BUSY [KEY NUMBER...]: as one whole, since the helper reads at any moment
gpu() {
    local mib=$1
    shift
    echo "$((mib * 1048576)) $*" >"$FAKE_NVML.new"
    mv "$FAKE_NVML.new" "$FAKE_NVML"
}

helpers() {
    pgrep -x kernsweep-nvml || pgrep -f '^kernsweep-nvml$'
}

helper_ends() {
    until_true 10 sh -c '! pgrep -f "^kernsweep-nvml$"'
}

facts() {
    local node
    gpu 500 0
    node=$(x probe --proc "$TMPDIR/proc")
    is "probe prints name, architecture, driver and memory" "$(jq -r '.gpus[0] | [.name, .arch, .driver, .vram_total_bytes, .vram_used_bytes] | join("|")' <<<"$node")" \
        "Fake H100|sm_90|550.1|68719476736|524288000"
    is "probe prints the processes on the GPU" "$(jq -c '.gpu_processes' <<<"$node")" '[{"gpus":[0],"pid":4321,"vram_bytes":777}]'
    helper_ends
    ok "the helper ends with the probe" $?
}

telemetry() {
    job level "$(shell "echo $((3000 * 1048576)) 97 >$FAKE_NVML; sleep 0.6; echo $((510 * 1048576)) 0 >$FAKE_NVML; $good" '{"sample_interval_ms": 20}')"
    gpu 500 0
    run level
    is "memory before, at its peak and after is measured" \
        "$(perf level '.vram | [.before_bytes, .peak_bytes, .after_bytes] | map(. / 1048576) | join(" ")')" "500 3000 510"
    is "load, bandwidth and power are measured" "$(perf level '.peaks | [.gpu_busy, .mem_busy, .power_w] | join(" ")')" "97 11 312.5"
    is "the helper does not count as a leftover of the test" "$(perf level '.cleanup | [.group_gone, .leftovers] | join(" ")')" "true 0"
    is "the helper's CPU time counts as sampling" "$(perf level '.sampler.cpu_s > 0')" true
    helper_ends
    ok "the helper ends with the run" $?
}

# did ID STATE... -- STATE...: a test during which the GPU is in the first state, and in the second before and after it, that
# prints $printed; the word PID stands for the test's process. STATE: the arguments of gpu
did() {
    local id=$1 busy=() idle
    shift
    while [ "$1" != -- ]; do
        busy+=("$1")
        shift
    done
    shift
    idle=$(($1 * 1048576))" ${*:2}"
    busy[0]=$((busy[0] * 1048576))
    job "$id" "$(shell "put() { echo \"\$*\" | sed s/PID/\$\$/ >$FAKE_NVML.test; mv $FAKE_NVML.test $FAKE_NVML; }
        sleep 0.3; put ${busy[*]}; sleep 1; put $idle; sleep 0.3; echo '[PERF_TIMING] $printed'" '{"sample_interval_ms": 20}')"
    gpu "$@"
    run "$id"
}

printed='{"kernel_ms": 1}'

# activity ID JQ
activity() {
    perf "$1" ".activity | $2"
}

busy_part() {
    did steady 500 97 sclk 1980 mclk 2619 power 500000 watts 500 reasons 4 -- 500 0 sclk 345 mclk 2619 power 500000 watts 500 reasons 1
    is "the busy part counts" "$(activity steady '.window | "\(.kind) \(.from_s > 0 and .to_s > .from_s and .samples > 2)"')" "busy true"
    is "the clocks and the power are of that part" \
        "$(activity steady '[.sclk_mhz, .sclk_p5_mhz, .mclk_mhz, .mclk_p5_mhz, .power_w] | join(" ")')" "1980 1980 2619 2619 500"
    is "an idle GPU is not throttled, one at its power cap is" "$(activity steady '"\(.throttle) \(.throttled_s > 0)"')" '["power"] true'
    is "the accumulator's energy is used" "$(activity steady '"\(.joules_from) \(.joules > 0) \(.note)"')" "accumulator true null"
    is "a process that was there before is a neighbour" "$(activity steady .neighbours)" 1
    is "energy is not sampled while the test runs" \
        "$(jq -s 'any(.[]; has("energy_j"))' "$(bundle steady)/v/ctx_64_run1/vram_samples.jsonl")" false
    is "reasons to throttle are" "$(jq -s 'any(.[]; .throttle == 1)' "$(bundle steady)/v/ctx_64_run1/vram_samples.jsonl")" true
}

timed_part() {
    local printed='{"prefill_s": 0.7, "decode_s": 0.3}'
    did timed 500 97 sclk 1980 -- 500 0 sclk 345
    is "the prefill's time before the decoding's counts" \
        "$(activity timed '.window | "\(.kind) \(((.to_s - .from_s) - 0.7 | fabs) < 0.001)"')" "timed true"
    printed='{"prefill_s": 0.1}'
    did late 500 97 sclk 1980 -- 500 0 sclk 345
    is "timings that are printed late do not say when" "$(activity late .window.kind)" busy
}

# A test of 0.5 s: the accumulator says otherwise, but it advances too rarely for that.
short_test() {
    local state="$((500 * 1048576)) 97 sclk 1980 power 300000 watts 200 noted 400000"
    job short "$(shell "sleep 0.5; echo '[PERF_TIMING] {\"prefill_s\": 0.4}'")"
    echo "$state" >"$FAKE_NVML"
    run short
    is "its energy is of the power that the driver noted" \
        "$(activity short '"\(.window.kind) \(.joules_from) \(.joules | round) \(.power_w | round)"')" "timed power 160 400"
    # A busy machine may answer one of them late.
    is "ticks have power and clock" \
        "$(jq -s 'length > 4 and (map(select((has("power_w") and has("sclk_mhz")) | not)) | length < 2)' "$(bundle short)/v/ctx_64_run1/vram_samples.jsonl")" true
}

wrong_energy() {
    did lies 500 97 sclk 1980 power 300000 watts 900 -- 500 0 sclk 345 power 300000 watts 900
    is "an accumulator of three times the power is not used" "$(activity lies .joules_from)" power
    like "it is said" "$(activity lies .note)" 'accumulator says .* J over the test, the power adds up to .* J: not used'
    did agrees 500 97 sclk 1980 power 300000 watts 300 -- 500 0 sclk 345 power 300000 watts 300
    is "an accumulator that agrees is used" "$(activity agrees .joules_from)" accumulator
    did none 500 97 sclk 1980 power 300000 -- 500 0 sclk 345 power 300000
    is "without an accumulator the power counts" "$(activity none '"\(.joules_from) \(.note)"')" "power null"
}

missing_sensors() {
    did blind 500 97 -- 500 0
    is "what the GPU does not tell is unknown" \
        "$(activity blind '[.sclk_mhz, .mclk_p5_mhz, .throttled_s, .throttle] | map(tostring) | unique | join(" ")')" null
    is "the whole test counts, with the power that there is" "$(activity blind '"\(.window.kind) \(.power_w) \(.joules_from)"')" "test 312.5 power"
}

other_processes() {
    did alone 500 97 sclk 1980 pid PID -- 500 0 sclk 345 pid 0
    is "the test's own process is no neighbour" "$(activity alone .neighbours)" 0
    did shared 500 97 sclk 1980 pid PID pid 7777 -- 500 0 sclk 345 pid 0
    is "a process that comes during the test is one" "$(activity shared .neighbours)" 1
}

leaked_memory() {
    job leak "$(shell_and_next "echo $((3000 * 1048576)) 0 >$FAKE_NVML; $good" '{"vram_settle_s": 0.3}')"
    gpu 500 0
    run leak
    like "the next test's reason has what is still in use" "$(perf leak .reason next)" 'GPU memory stays at 3000 MiB'
}

hang() {
    gpu 500 0
    job hang "$(shell "while :; do :; done" '{"hang_after_s": 0.6}')"
    run hang
    is "the test is HANG" "$(perf hang .exit_status)" HANG
}

executor_killed() {
    gpu 500 0
    job killed "$(one '{"run": ["sleep", "1000"]}')"
    submit killed
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
    job without "$(shell "$good")"
    run without
    is "a test is OK, without GPU memory" "$(perf without '"\(.exit_status) \(.vram.available)"')" "OK false"
}

scenario "the facts of an NVIDIA GPU" facts
scenario "the telemetry of a test on an NVIDIA GPU" telemetry
scenario "the busy part of a test on an NVIDIA GPU" busy_part
scenario "the timed part of a test on an NVIDIA GPU" timed_part
scenario "a short test on an NVIDIA GPU" short_test
scenario "an energy accumulator that is wrong" wrong_energy
scenario "an NVIDIA GPU without sensors" missing_sensors
scenario "other processes on an NVIDIA GPU" other_processes
scenario "NVIDIA GPU memory that is not freed" leaked_memory
scenario "a test busy on the CPU with an idle NVIDIA GPU" hang
scenario "an executor that is killed beside its NVML helper" executor_killed
scenario "a node without NVIDIA's library" no_library
done_testing
