#!/usr/bin/env bash
# A node with an AMD GPU, played by a folder: telemetry, memory that does not come back, hangs.
. tests/lib.sh
. tests/executor.sh

SYS=$TMPDIR/sys
DEV=$SYS/class/drm/card1/device
SUBMIT=(--sysfs "$SYS")

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

# vram MIB: in one write of a length that is always the same, for whoever reads meanwhile: four digits of MiB are ten of bytes.
vram() {
    printf '%d\n' "$(($1 * 1048576))" 1<>"$DEV/mem_info_vram_used"
}

# two ID SCRIPT [JOB_JSON]: the script as a test, then a good one
two() {
    job "$1" "$(shell_and_next "$2" "${3:-}" | jq -c '{sample_interval_ms: 20, vram_settle_s: 0.3} + .')"
    run "$1"
}

idle_gpu() {
    rm -rf "$SYS"
    fake_gpu
}

facts() {
    idle_gpu
    is "probe prints name, architecture, memory and driver" "$(x probe --sysfs "$SYS" | jq -r '.gpus[0] | [.name, .arch, .vram_total_bytes, .driver] | join("|")')" \
        "AMD Instinct MI300X|gfx942|205822885888|6.8.5"
    is "probe takes the folder from KERNSWEEP_FAKE_ROOT, too" "$(KERNSWEEP_FAKE_ROOT=$TMPDIR x probe | jq -r '.gpus[0].arch')" gfx942
}

telemetry() {
    idle_gpu
    two level "mkdir -p $SYS/class/kfd/kfd/proc/\$\$; echo 12345 >$SYS/class/kfd/kfd/proc/\$\$/vram_51110
        echo $((5000 * 1048576)) >$DEV/mem_info_vram_used; echo 98 >$DEV/gpu_busy_percent; sleep 1.3
        echo $((1010 * 1048576)) >$DEV/mem_info_vram_used; echo 0 >$DEV/gpu_busy_percent; $good"
    is "memory before, at its peak and after is measured" "$(perf level '.vram | [.before_bytes, .peak_bytes, .after_bytes] | map(. / 1048576) | join(" ")')" "1000 5000 1010"
    is "the peaks of the other sensors are measured" "$(perf level '.peaks | [.gpu_busy, .mem_busy, .power_w, .temp_junction_c, .temp_mem_c, .sclk_mhz, .vram_proc] | join(" ")')" \
        "98 7 750 61 48.5 2100 12345"
    is "10 MiB more than before count as freed" "$(perf level '.cleanup.vram_back')" true
    is "the longest gap between samples is recorded" "$(perf level '.vram | (.samples > 20) and (.max_gap_ms >= 20)')" true
    is "the CPU time of sampling is recorded" "$(perf level '.sampler.cpu_s > 0')" true
    is "heartbeats have the GPU's load" "$(events level 'any(.[]; .event == "HEARTBEAT" and .gpu_use == 98)')" true
    is "slow sensors are read ten times a second at most" \
        "$(jq -s '(map(select(has("power_w"))) | length) <= (.[-1].t * 10 + 2)' "$(bundle level)/v/ctx_64_run1/vram_samples.jsonl")" true
    is "so is the load, which the GPU's controller is asked for" \
        "$(jq -s '(map(select(has("gpu_busy"))) | length) <= (.[-1].t * 10 + 2)' "$(bundle level)/v/ctx_64_run1/vram_samples.jsonl")" true
}

# Each right after the other, whose last level was taken a moment ago.
levels() {
    idle_gpu
    two levels "exit 3" '{"variants": [{"name": "v", "run": ["false"]}, {"name": "next", "run": ["false"]}]}'
    like "the level before the first test has all values" "$(cat "$(bundle levels)/v/ctx_64_run1/diag.txt")" '^before: .*gpu_busy=0 .*power_w=750'
    like "the level before the second has all values, too" "$(cat "$(bundle levels)/next/ctx_64_run1/diag.txt")" '^before: .*gpu_busy=0 .*power_w=750'
}

# held_up ID: starts the tests of ID in the background, the first of which ends once the file "ID.end" is there, and stops their
# supervisor, $STOPPED, for a second.
held_up() {
    idle_gpu
    two "$1" "touch $TMPDIR/$1.begun; until [ -e $TMPDIR/$1.end ]; do sleep 0.02; done; $good" &
    until_true 120 test -e "$TMPDIR/$1.begun"
    STOPPED=$(supervisor "$1")
    kill -STOP "$STOPPED"
    sleep 1 # how long it is held up: that is what is tested
}

held_up_sampler() {
    held_up missed
    kill -CONT "$STOPPED"
    touch "$TMPDIR/missed.end"
    wait $!
    is "the missed ticks are counted" "$(perf missed '.vram.missed >= 40')" true
    is "the gap in which a peak may have been missed is recorded" "$(perf missed '.vram.max_gap_ms >= 900')" true
}

# The test ends while nobody looks.
held_up_to_the_end() {
    held_up unseen
    touch "$TMPDIR/unseen.end"
    until_true 120 has_ended "$STOPPED"
    kill -CONT "$STOPPED"
    wait $!
    is "the missed ticks are counted" "$(perf unseen '.vram.missed >= 40')" true
    is "the gap is recorded" "$(perf unseen '.vram.max_gap_ms >= 900')" true
}

# has_ended SUPERVISOR: nothing that it started still runs; it may not have been waited for.
has_ended() {
    [ -z "$(pgrep -P "$1" -r R,S,D)" ]
}

late_memory() {
    idle_gpu
    two late "echo $((9000 * 1048576)) >$DEV/mem_info_vram_used; touch $TMPDIR/freeing; $good" '{"vram_settle_s": 120}' &
    until_true 120 test -e "$TMPDIR/freeing"
    sleep 0.3 # the memory comes back late: that is what is tested
    vram 1000
    wait $!
    is "the executor waits for it" "$(perf late '.cleanup.vram_back')" true
    is "the next test is OK" "$(perf late .exit_status next)" OK
}

# 20 MiB a test, of which 32 are tolerated.
small_leaks() {
    idle_gpu
    two drip "u=\$(cat $DEV/mem_info_vram_used); echo \$((u + 20 * 1048576)) >$DEV/mem_info_vram_used; $good" \
        '{"vram_tolerance_bytes": 33554432, "tests": [{"variant": "v"}, {"variant": "v", "repetition": 2}, {"variant": "next"}]}'
    is "no test is held against its own" "$(events drip '[.[] | select(.event == "TEST_END") | .exit_status] | join(" ")')" "OK OK OK"
    is "what they add up to is said once, and who left it" \
        "$(events drip '[.[] | .message // "" | select(test("memory leaks: .* has 40 MiB more in use after test 2 .* of v left 40 MiB"))] | length')" 1
}

leaked_memory() {
    idle_gpu
    two leak "echo $((9000 * 1048576)) >$DEV/mem_info_vram_used; $good"
    is "the test itself is OK, its memory not back" "$(perf leak '"\(.exit_status) \(.cleanup.vram_back)"')" "OK false"
    is "the next test is SKIPPED" "$(perf leak .exit_status next)" SKIPPED
    like "the next test's reason says what happened and what to do" "$(perf leak .reason next)" 'dirty: GPU memory stays at 9000 MiB after test 1.*1000 MiB.*reset'
    like "an event says that the node is dirty" "$(events leak '.[] | select(.event == "NODE") | .message // ""')" 'dirty'
    is "the run is COMPLETE" "$(summary leak .status)" COMPLETE
}

hang() {
    local diag
    idle_gpu
    two hang 'echo started; while :; do :; done' '{"hang_after_s": 0.6}'
    diag=$(bundle hang)/v/ctx_64_run1/diag.txt
    is "the test is HANG" "$(perf hang .exit_status)" HANG
    is "the test is ended long before its time-out" "$(perf hang '.wall_time_sec < 15')" true
    is "diag.txt has the last samples" "$(grep -c '^sample:' "$diag" | awk '{print ($1 > 5)}')" 1
    like "some of them have the GPU's load" "$(cat "$diag")" '^sample:.*gpu_busy=0'
    like "diag.txt has the process's state" "$(cat "$diag")" '^State:.*(R|S)'
    if [ -n "$(cat /proc/self/stack 2>/dev/null)" ]; then
        like "diag.txt has the process's kernel stack" "$(cat "$diag")" '^stack: '
    else
        skip "diag.txt has the process's kernel stack" "this kernel shows none"
    fi
    like "diag.txt ends with the end of the log" "$(tail -n 1 "$diag")" started
    is "the next test is OK" "$(perf hang .exit_status next)" OK
}

silence() {
    idle_gpu
    two silent 'echo one; sleep 1000' '{"no_output_timeout_s": 0.5}'
    is "the test is HANG" "$(perf silent .exit_status)" HANG
    like "the reason has the limit" "$(perf silent .reason)" 'no output for 0.5 s'
    is "the next test is OK" "$(perf silent .exit_status next)" OK
}

# is_ok ID SCRIPT JOB_JSON: such a test is not stopped
is_ok() {
    two "$1" "$2" "$3"
    is "the test is OK" "$(perf "$1" .exit_status)" OK
}

chatty() {
    idle_gpu
    is_ok chatty "i=0; while [ \$i -lt 16 ]; do echo \$i; sleep 0.25; i=\$((i + 1)); done; $good" '{"no_output_timeout_s": 3}'
}

BUSY="end=\$((\$(date +%s) + 2)); while [ \$(date +%s) -lt \$end ]; do :; done; $good"

busy_gpu() {
    idle_gpu
    echo 100 >"$DEV/gpu_busy_percent"
    is_ok busy "$BUSY" '{"hang_after_s": 0.6}'
}

unknown_load() {
    idle_gpu
    rm "$DEV/gpu_busy_percent"
    is_ok blind "$BUSY" '{"hang_after_s": 0.6}'
    is "samples have no load, rather than 0" "$(jq -s 'any(.[]; has("gpu_busy"))' "$(bundle blind)/v/ctx_64_run1/vram_samples.jsonl")" false
}

metrics_table() {
    idle_gpu
    rm -r "$DEV/hwmon"
    # size, format 1, content 4, hot spot 63, memory 51, -, 412 W, ...
    printf '\050\001\001\004\077\000\063\000\377\377\234\001\000\000\000\000' >"$DEV/gpu_metrics"
    two metrics "sleep 0.2; $good"
    is "temperatures and power are read from gpu_metrics" "$(perf metrics '.peaks | [.temp_junction_c, .temp_mem_c, .power_w] | join(" ")')" "63 51 412"
}

unknown_table() {
    idle_gpu
    printf '\056\003\001\012\001\000\000\000\001\010\060\000\000\000\000\000\377\377' >"$DEV/gpu_metrics" # 1.10
    two unknown "sleep 0.2; $good"
    is "what other files tell is used" "$(activity unknown '"\(.power_w) \(.sclk_mhz) \(.throttled_s)"')" "750 2100 null"
    is "it is said once per run" "$(events unknown '[.[] | select((.message // "") | contains("gpu_metrics 1.10 of 18 bytes of GPU 0 is not known"))] | length')" 1
}

# activity ID JQ
activity() {
    perf "$1" ".activity | $2"
}

# plays ID VERSION [DIVISOR]: a test of four seconds, the middle two busy, on a card that takes 412 W. While busy, seven of eight dies run at
# 2100 MHz, and the power cap is active half of the time. The energy is divided by DIVISOR.
plays() {
    local idle=132,132,132,132,132,132,132,132 busy=2100,2100,2100,2100,2100,2100,2100,1980 card
    local residencies="prochot=0 ppt=0 socket=0 vr=0 hbm=0"
    case $2 in 1.5) residencies= ;; esac
    idle_gpu
    rm -r "$DEV/hwmon" "$DEV/gpu_busy_percent"
    # shellcheck disable=SC2086
    "$BUILD/tests/gpu_metrics" "$2" hotspot=63 memory=51 power=412 gfx=0 umc=37 mclk=1300 sclk=$idle $residencies \
        --play "$DEV/gpu_metrics" "$TMPDIR/busy" "${3:-1}" gfx=98 sclk=$busy &
    card=$!
    until_true 20 test -s "$DEV/gpu_metrics"
    two "$1" "sleep 1; touch $TMPDIR/busy; sleep 2; rm $TMPDIR/busy; sleep 1; echo '[PERF_TIMING] {\"kernel_ms\": 1}'"
    kill "$card"
    wait "$card" || :
}

of_eight_dies() {
    plays dies 1.8
    is "the busy part counts" "$(activity dies .window.kind)" busy
    is "the clock is the mean of the dies, beside the slowest" "$(activity dies '[.sclk_mhz, .sclk_low_mhz, .mclk_mhz] | map(round) | join(" ")')" "2085 1980 1300"
    is "the power cap's residency is a reason to throttle" "$(activity dies '"\(.throttle) \(.throttled_s > 0)"')" '["power"] true'
    is "the accumulator's energy is used" "$(activity dies '"\(.joules_from) \(.joules > 0) \(.note)"')" "accumulator true null"
    plays entries 1.9
    is "a table of entries tells the same" "$(activity entries '[.sclk_mhz, .sclk_low_mhz, .mclk_mhz] | map(round) | join(" ")')" "2085 1980 1300"
    is "also of throttling and energy" "$(activity entries '"\(.throttle) \(.throttled_s > 0) \(.joules_from)"')" '["power"] true accumulator'
    plays older 1.5
    is "without residencies nothing is known of throttling" "$(activity older '[.throttle, .throttled_s] | join(" ")')" " "
    is "a smaller table has clocks and energy, too" "$(activity older '"\(.sclk_mhz | round) \(.joules_from)"')" "2085 accumulator"
    plays lies 1.7 4
    is "an accumulator that is four times too slow is not used" "$(activity lies .joules_from)" power
    like "it is said" "$(activity lies .note)" 'accumulator says .*: not used'
}

one_of_two() {
    local second=$SYS/class/drm/card2/device
    idle_gpu
    mkdir -p "$second/hwmon/hwmon4"
    echo 0x1002 >"$second/vendor"
    echo 1000000 >"$second/mem_info_vram_total"
    echo 4096 >"$second/mem_info_vram_used"
    echo 1d0fbe6a2a1c0002 >"$second/unique_id"
    echo 300000000 >"$second/hwmon/hwmon4/power1_input"
    echo 1500000000 >"$second/hwmon/hwmon4/freq1_input"
    two both "sleep 0.5; $good" '{"gpus": "all", "gpus_per_test": 2}'
    is "power is that of all GPUs, the clock that of the fastest" "$(activity both '[.power_w, .sclk_mhz] | join(" ")')" "1050 2100"
    two second "sleep 0.5; $good" '{"env": {"HIP_VISIBLE_DEVICES": "1"}}'
    is "of a run that may use one, they are of that one" "$(activity second '[.power_w, .sclk_mhz] | join(" ")')" "300 1500"
    is "and so is the memory in use" "$(perf second .vram.peak_bytes)" 4096
}

neighbours() {
    idle_gpu
    mkdir -p "$SYS/class/kfd/kfd/proc/"{1,2}
    echo 4096 >"$SYS/class/kfd/kfd/proc/1/vram_51110"
    echo 0 >"$SYS/class/kfd/kfd/proc/2/vram_51110"
    two shared "mkdir -p $SYS/class/kfd/kfd/proc/\$\$; echo 12345 >$SYS/class/kfd/kfd/proc/\$\$/vram_51110; sleep 0.8; $good"
    is "a process with memory is a neighbour, one that only opened the device is none" "$(activity shared .neighbours)" 1
}

scenario "the facts of an AMD GPU" facts
scenario "a gpu_metrics of the future" unknown_table
scenario "memory that leaks a little with each test" small_leaks
scenario "a card of eight dies with gpu_metrics" of_eight_dies
scenario "a run that may use one of two AMD GPUs" one_of_two
scenario "processes of others on an AMD GPU" neighbours
scenario "the telemetry of a test on an AMD GPU" telemetry
scenario "the levels before two tests" levels
scenario "a sampler that is held up for a second" held_up_sampler
scenario "a sampler that is held up to the test's end" held_up_to_the_end
scenario "GPU memory that is freed late" late_memory
scenario "GPU memory that is not freed" leaked_memory
scenario "a test busy on the CPU with an idle GPU" hang
scenario "a test silent for longer than no_output_timeout_s" silence
scenario "a test that prints often enough" chatty
scenario "a test busy on the CPU with a busy GPU" busy_gpu
scenario "a test busy on the CPU where the GPU's load is unknown" unknown_load
scenario "a GPU without hwmon" metrics_table
done_testing
