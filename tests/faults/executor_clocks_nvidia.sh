#!/usr/bin/env bash
# The clocks that a run holds on an NVIDIA GPU, through a library of our own in place of NVIDIA's.
. tests/lib.sh
. tests/executor.sh

mkdir -p "$TMPDIR/root/proc/driver/nvidia" "$TMPDIR/root/proc/sys/kernel/random" "$TMPDIR/root/sys"
echo "NVRM version: some" >"$TMPDIR/root/proc/driver/nvidia/version"
echo 5f0c2d0e-6a39-4c6d-9a55-0b0f5f8ad001 >"$TMPDIR/root/proc/sys/kernel/random/boot_id"
export KERNSWEEP_FAKE_ROOT=$TMPDIR/root FAKE_NVML=$TMPDIR/gpu KERNSWEEP_NVML_LIBRARY=$TMPDIR/libfake.so
"${CC:-cc}" -shared -fPIC -o "$KERNSWEEP_NVML_LIBRARY" tests/fixtures/nvml/fake_nvml.c || skip_all "no compiler for the stand-in library"

# gpu BUSY MHZ
gpu() {
    echo "524288000 $1 sclk $2" >"$FAKE_NVML"
}

# clocks_seen ID MODE MHZ SEEN [JSON]: a run whose test shows the clock SEEN under load
clocks_seen() {
    rm -f "$FAKE_NVML.locks"
    gpu 0 345
    clocked "$1" "$2" "$3" "echo 524288000 97 sclk $4 >$FAKE_NVML; sleep 0.9; echo 524288000 0 sclk 345 >$FAKE_NVML; $good" "${5:-}"
}

calls() {
    xargs <"$FAKE_NVML.locks"
}

# held MODE LEAST
held() {
    clocks_seen "held-$1" "$1" 1400 1400
    is "the run is COMPLETE" "$(outcome "held-$1")" COMPLETE
    is "the clocks are locked, then released" "$(calls)" "lock $2 1400 release"
    is "summary.json has what samples showed" "$(summary "held-$1" '.clocks | [.verified, (.gpus[0] | .through, .level_before, .mean_mhz)] | map(tostring) | join(" ")')" \
        "true nvml null 1400"
    is "no record is left" "$(x probe | jq -c .clocks_left)" null
}

contradicted() {
    clocks_seen other fixed 1400 1980
    is "the run is BLOCKED" "$(outcome other)" BLOCKED
    is "the clocks are released" "$(calls)" "lock 1400 1400 release"
}

refused() {
    echo 4 >"$FAKE_NVML.refuse"
    clocks_seen refused fixed 1400 1400
    is "the run is BLOCKED" "$(outcome refused)" BLOCKED
    like "its reason says what is missing" "$(summary refused .reason)" 'needs a privilege that user [0-9]+ lacks: NVML: nvmlDeviceSetGpuLockedClocks: Insufficient Permissions .NVML error 4.; run the executor as root'
    clocks_seen anyway fixed 1400 1980 '{"clocks_unverified": "warn"}'
    is "where the plan only warns, the run is COMPLETE" "$(outcome anyway)" COMPLETE
    rm "$FAKE_NVML.refuse"
    is "no record is left" "$(x probe | jq -c .clocks_left)" null
}

killed() {
    rm -f "$FAKE_NVML.locks"
    gpu 0 345
    job dead "$(one '{"run": ["sleep", "1000"]}' | jq -c '. + {clocks_mode: "fixed", clocks_mhz: 1400}')"
    submit dead
    waits dead '.event == "TEST_START"'
    kill -9 "$(supervisor dead)"
    is "probe shows who locked them" "$(x probe | jq -c '.clocks_left[0] | [.gpu, .run_id, .held]')" '["GPU-fake-0","dead",false]'
    job after "$(shell "$good")"
    run after
    is "the next run is COMPLETE" "$(summary after .status)" COMPLETE
    is "it has released them" "$(calls)" "lock 1400 1400 release"
    is "no record is left" "$(x probe | jq -c .clocks_left)" null
    x cancel --run dead >/dev/null
}

settings() {
    gpu 0 345
    printf '%s\n' 'persistence 0' 'limit_mw 500000' 'default_mw 700000' 'ecc 1' 'mig 0' >"$FAKE_NVML.settings"
    is "probe prints them" "$(x probe | jq -c '.gpus[0] | [.persistence, .power_cap_w, .power_cap_default_w, .ecc, .mig, .firmware.vbios]')" \
        '[false,500,700,true,false,"96.00.5E.00.01"]'
    rm "$FAKE_NVML.settings"
    is "what the library does not tell has no key" "$(x probe | jq -c '.gpus[0] | [has("persistence"), has("ecc"), has("mig")]')" '[false,false,false]'
}

scenario "clocks with an upper limit" held determinism 0
scenario "fixed clocks" held fixed 1400
scenario "a GPU that runs at other clocks" contradicted
scenario "a user who may not lock clocks" refused
scenario "an executor killed while clocks are locked" killed
scenario "the settings of an NVIDIA GPU" settings
done_testing
