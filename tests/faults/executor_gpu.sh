#!/usr/bin/env bash
# A node with an AMD GPU, played by a folder: telemetry, memory that does not come back, hangs.
. tests/lib.sh
. tests/executor.sh

SYS=$TMPDIR/sys
DEV=$SYS/class/drm/card1/device
good='echo "[PERF_TIMING] {\"prefill_s\": 1}"'

fake_gpu() {
    mkdir -p "$DEV/hwmon/hwmon3" "$SYS/class/drm/card1-HDMI-A-1" "$SYS/class/kfd/kfd/proc" \
        "$SYS/class/kfd/kfd/topology/nodes/0" "$SYS/class/kfd/kfd/topology/nodes/1" "$SYS/module/amdgpu"
    echo 0x1002 >"$DEV/vendor"
    echo 0x74a1 >"$DEV/device"
    echo 205822885888 >"$DEV/mem_info_vram_total"
    vram 1000
    echo 0 >"$DEV/gpu_busy_percent"
    echo 7 >"$DEV/mem_busy_percent"
    echo 1d0fbe6a2a1c0001 >"$DEV/unique_id"
    echo 750000000 >"$DEV/hwmon/hwmon3/power1_input"
    echo junction >"$DEV/hwmon/hwmon3/temp2_label"
    echo 61000 >"$DEV/hwmon/hwmon3/temp2_input"
    echo mem >"$DEV/hwmon/hwmon3/temp3_label"
    echo 48500 >"$DEV/hwmon/hwmon3/temp3_input"
    echo 2100000000 >"$DEV/hwmon/hwmon3/freq1_input"
    echo 6.8.5 >"$SYS/module/amdgpu/version"
    printf 'cpu_cores_count 64\ngfx_target_version 0\n' >"$SYS/class/kfd/kfd/topology/nodes/0/properties"
    printf 'cpu_cores_count 0\ngfx_target_version 90402\nunique_id 2094031516889120769\n' \
        >"$SYS/class/kfd/kfd/topology/nodes/1/properties"
}

# MiB
vram() {
    echo "$(($1 * 1048576))" >"$DEV/mem_info_vram_used.new"
    cat "$DEV/mem_info_vram_used.new" >"$DEV/mem_info_vram_used"
}

submit() {
    x submit --sysfs "$SYS" <"$TMPDIR/$1.json" >/dev/null
}

# two ID SCRIPT [JOB_JSON]: the script as a test, then a good one
two() {
    job "$1" "$(jq -nc --arg s "$2" --arg g "$good" --argjson j "${3:-"{}"}" \
        '{sample_interval_ms: 20, vram_settle_s: 0.3,
          variants: [{name: "v", run: ["sh", "-c", $s]}, {name: "next", run: ["sh", "-c", $g]}],
          tests: [{variant: "v"}, {variant: "next"}]} + $j')"
    run "$1"
}

fake_gpu
is "the GPU's facts" "$(x probe --sysfs "$SYS" | jq -r '.gpus[0] | [.name, .arch, .vram_total_bytes, .driver] | join("|")')" \
    "AMD Instinct MI300X|gfx942|205822885888|6.8.5"

two level "mkdir -p $SYS/class/kfd/kfd/proc/\$\$; echo 12345 >$SYS/class/kfd/kfd/proc/\$\$/vram_51110
    echo $((5000 * 1048576)) >$DEV/mem_info_vram_used; echo 98 >$DEV/gpu_busy_percent; sleep 1.3
    echo $((1010 * 1048576)) >$DEV/mem_info_vram_used; echo 0 >$DEV/gpu_busy_percent; $good"
is "the level before, the peak, the level after" "$(perf level '.vram | [.before_bytes, .peak_bytes, .after_bytes] | map(. / 1048576) | join(" ")')" "1000 5000 1010"
is "the other peaks" "$(perf level '.peaks | [.gpu_busy, .mem_busy, .power_w, .temp_junction_c, .temp_mem_c, .sclk_mhz, .vram_proc] | join(" ")')" \
    "98 7 750 61 48.5 2100 12345"
is "10 MiB more are within the tolerance" "$(perf level '.cleanup.vram_back')" true
is "the longest gap is told" "$(perf level '.vram | (.samples > 20) and (.max_gap_ms >= 20)')" true
is "so is what sampling cost" "$(perf level '.sampler.cpu_s > 0')" true
is "heart beats show the GPU" "$(events level 'any(.[]; .event == "HEARTBEAT" and .gpu_use == 98)')" true
is "slow sensors are asked ten times a second at most" \
    "$(jq -s '(map(select(has("power_w"))) | length) <= (.[-1].t * 10 + 2)' "$(bundle level)/v/ctx_64_run1/vram_samples.jsonl")" true

# A sampler that is held up counts what it missed, and says for how long a peak may have hidden.
two missed "touch $TMPDIR/sampled; until [ -e $TMPDIR/held ]; do sleep 0.02; done; $good" &
until_true 20 test -e "$TMPDIR/sampled"
waits missed '.event == "TEST_START"'
stopped=$(supervisor missed)
kill -STOP "$stopped"
sleep 1 # how long it is held up: that is what is tested
kill -CONT "$stopped"
touch "$TMPDIR/held"
wait
is "ticks that a sampler missed are counted" "$(perf missed '.vram.missed >= 40')" true
is "   in the gap that a peak may have hidden in" "$(perf missed '.vram.max_gap_ms >= 900')" true

vram 1000
two late "echo $((9000 * 1048576)) >$DEV/mem_info_vram_used; touch $TMPDIR/freeing; $good" '{"vram_settle_s": 20}' &
until_true 20 test -e "$TMPDIR/freeing"
waits late '.event == "TEST_START"'
sleep 0.3 # the memory comes back late: that is what is tested
vram 1000
wait
is "memory that comes back late is waited for" "$(perf late '.cleanup.vram_back')" true
is "   and the next test runs" "$(perf late .exit_status next)" OK

vram 1000
two leak "echo $((9000 * 1048576)) >$DEV/mem_info_vram_used; $good"
is "memory that stays: the test itself is what it is" "$(perf leak '"\(.exit_status) \(.cleanup.vram_back)"')" "OK false"
is "   the next one is SKIPPED" "$(perf leak .exit_status next)" SKIPPED
like "   with the reason, and what to do" "$(perf leak .reason next)" 'dirty: GPU memory stays at 9000 MiB after test 1.*1000 MiB.*reset'
like "   an event tells it, too" "$(events leak '.[] | select(.event == "NODE") | .message // ""')" 'dirty'
is "   the run is COMPLETE" "$(summary leak .status)" COMPLETE

vram 1000
echo 0 >"$DEV/gpu_busy_percent"
two hang 'echo started; while :; do :; done' '{"hang_after_s": 0.6}'
is "busy with an idle GPU: HANG" "$(perf hang .exit_status)" HANG
is "   long before its time-out" "$(perf hang '.wall_time_sec < 15')" true
is "   diag.txt has the last samples" "$(grep -c '^sample:.*gpu_busy=0' "$(bundle hang)/v/ctx_64_run1/diag.txt" | awk '{print ($1 > 5)}')" 1
like "   the process" "$(cat "$(bundle hang)/v/ctx_64_run1/diag.txt")" '^State:.*(R|S)'
if [ -n "$(cat /proc/self/stack 2>/dev/null)" ]; then
    like "   its stack" "$(cat "$(bundle hang)/v/ctx_64_run1/diag.txt")" '^stack: '
else
    skip "   its stack" "this kernel shows none"
fi
like "   the end of the log" "$(tail -n 1 "$(bundle hang)/v/ctx_64_run1/diag.txt")" started
is "   the next test runs" "$(perf hang .exit_status next)" OK

two silent 'echo one; sleep 1000' '{"no_output_timeout_s": 0.5}'
is "silent for too long: HANG" "$(perf silent .exit_status)" HANG
like "   the reason" "$(perf silent .reason)" 'no output for 0.5 s'
is "   the next test runs" "$(perf silent .exit_status next)" OK

two chatty "i=0; while [ \$i -lt 12 ]; do echo \$i; sleep 0.1; i=\$((i + 1)); done; $good" '{"no_output_timeout_s": 0.8}'
is "one that talks is left alone" "$(perf chatty .exit_status)" OK

echo 100 >"$DEV/gpu_busy_percent"
two busy "end=\$((\$(date +%s) + 2)); while [ \$(date +%s) -lt \$end ]; do :; done; $good" '{"hang_after_s": 0.6}'
is "busy with a busy GPU is no hang" "$(perf busy .exit_status)" OK

rm "$DEV/gpu_busy_percent"
two blind "end=\$((\$(date +%s) + 2)); while [ \$(date +%s) -lt \$end ]; do :; done; $good" '{"hang_after_s": 0.6}'
is "where the GPU's load cannot be seen there is no hang" "$(perf blind .exit_status)" OK
is "   and the load is absent, not 0" "$(jq -s 'any(.[]; has("gpu_busy"))' "$(bundle blind)/v/ctx_64_run1/vram_samples.jsonl")" false

rm -r "$DEV/hwmon"
# size, format 1, content 4, hot spot 63, memory 51, -, 412 W, ...
printf '\050\001\001\004\077\000\063\000\377\377\234\001\000\000\000\000' >"$DEV/gpu_metrics"
two metrics "sleep 0.2; $good"
is "without hwmon the head of gpu_metrics is read" "$(perf metrics '.peaks | [.temp_junction_c, .temp_mem_c, .power_w] | join(" ")')" "63 51 412"

export KERNSWEEP_FAKE_ROOT=$TMPDIR
is "KERNSWEEP_FAKE_ROOT does the same as --sysfs" "$(x probe | jq -r '.gpus[0].arch')" gfx942
done_testing
