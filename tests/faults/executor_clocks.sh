#!/usr/bin/env bash
# The clocks that a run holds: what its plan asks for is set, seen under load and put back, and whatever ends the executor, at
# whatever step, the next one puts back what was before.
. tests/lib.sh
. tests/executor.sh
. tests/tree.sh
. tests/amdgpu.sh

amdgpu_node "$TMPDIR/node"
rm -rf "$ROOT/sys/class/drm/card2" "$ROOT/sys/class/kfd/kfd/topology/nodes/3"
RECORD=$ROOT/sys/kernsweep-gpu-1d0fbe6a2a1c0000.clocks.$(id -u)
was="auto 500 2100"
trap amdgpu_stop EXIT
amdgpu_start

# A test that shows the clock MHZ under load for a while, and keeps what the driver shows meanwhile.
load() {
    # shellcheck disable=SC2016 # for the test's shell
    printf 'cd %s; echo %s000000 >hwmon/hwmon1/freq1_input; echo 98 >gpu_busy_percent; cp pp_od_clk_voltage power_dpm_force_performance_level "$KERNSWEEP_OUT"; sleep 0.7; echo 0 >gpu_busy_percent; %s' \
        "$CARD" "$1" "$good"
}

# A run that asks for nothing.
plain() {
    job "$1" "$(shell "$good")"
    run "$1"
    is "the next run is COMPLETE" "$(summary "$1" .status)" COMPLETE
}

nothing_left() {
    clocks_are "the clocks are as before" "${1:-$was}"
    is "no record is left" "$(cat "$RECORD" 2>/dev/null)" ""
    is "probe shows nothing left" "$(x probe | jq -c .clocks_left)" null
}

# held MODE MHZ EXPECTED: what the driver shows during the test
held() {
    clocked "held-$1" "$1" "$2" "$(load "$2")"
    is "the run is COMPLETE" "$(outcome "held-$1")" COMPLETE
    is "the driver shows it during the test" "$(state_of "$(bundle "held-$1")/v/ctx_64_run1")" "$3"
    is "summary.json has what was before, and that samples show it" \
        "$(summary "held-$1" '.clocks | [.mode, .mhz, .verified, .warning, (.gpus[0] | .through, .level_before, .max_mhz_before, .put_back, .mean_mhz, .outside)] | join(" ")')" \
        "$1 $2 true  sysfs auto 2100 true $2 0"
    is "node.json has what was asked for" "$(jq -c '.clocks | [.mode, .mhz]' "$(bundle "held-$1")/node.json")" "[\"$1\",$2]"
    nothing_left
}

of_an_administrator() {
    set_state manual 600 1500
    clocked admin determinism 1400 "$(load 1400)"
    is "the run is COMPLETE" "$(outcome admin)" COMPLETE
    is "the driver shows the run's clocks during the test" "$(state_of "$(bundle admin)/v/ctx_64_run1")" "perf_determinism 600 1400"
    nothing_left "manual 600 1500"
    set_state auto 500 2100
}

two_tests() {
    jq -nc --arg s "$(load "$1")" '{variants: [{name: "v", run: ["sh", "-c", $s]}], tests: [{variant: "v"}, {variant: "v", repetition: 2}]}'
}

contradicted() {
    clocked other fixed 1400 "$(load 900)" "$(two_tests 900)"
    is "the run is BLOCKED" "$(outcome other)" BLOCKED
    like "its reason has what was seen" "$(summary other .reason)" 'to be fixed at 1400 MHz, but [0-9]+ of [0-9]+ samples under load are outside that \(900 to 900 MHz, mean 900\)'
    is "the second test does not run" "$(summary other '.tests[1].exit_status')" CANCELLED
    nothing_left
}

warned() {
    clocked warned fixed 1400 "$(load 900)" "$(two_tests 900 | jq -c '. + {clocks_unverified: "warn"}')"
    is "the run is COMPLETE" "$(outcome warned)" COMPLETE
    is "summary.json says that the clocks were others" "$(summary warned '.clocks.verified')" false
    like "and how" "$(summary warned .clocks.warning)" 'are outside that'
    is "the warning is given once" "$(messages warned | grep -c 'are outside that')" 1
    nothing_left
}

below_the_limit() {
    clocked lower determinism 1900 "$(load 1200)"
    is "the run is COMPLETE: the limit is an upper one" "$(outcome lower)" COMPLETE
    clocked higher determinism 1900 "$(load 2100)"
    is "a run above it is BLOCKED" "$(outcome higher)" BLOCKED
    nothing_left
}

unseen() {
    clocked short fixed 1400 "$good"
    is "the run is BLOCKED" "$(outcome short)" BLOCKED
    like "its reason says why" "$(summary short .reason)" 'too few samples under load \(0\)'
    nothing_left
}

# A driver that takes nothing over.
stuck() {
    : >"$ROOT/stuck"
    clocked stuck fixed 1400 "$(load 1400)"
    is "the run is BLOCKED" "$(outcome stuck)" BLOCKED
    like "its reason says what was asked for and what is set" "$(summary stuck .reason)" 'the driver did not apply the clocks: level manual with 1400 to 1400 MHz was requested'
    rm "$ROOT/stuck"
    show_limits "$CARD" 500 2100
    nothing_left
}

wait_for() {
    clocked "$1" fixed 1400 "touch $TMPDIR/$1.started; sleep 1000" "${2:-"{}"}"
    waits "$1" '.event == "TEST_START"'
}

killed_in_test() {
    wait_for dead
    kill -9 "$(supervisor dead)"
    clocks_are "the clocks are still set" "manual 1400 1400"
    is "probe shows who set them" "$(x probe | jq -c '.clocks_left[0] | [.gpu, .run_id, .mode, .mhz, .held, .can_put_back]')" \
        '["1d0fbe6a2a1c0000","dead","fixed",1400,false,true]'
    plain after
    like "it says what it found and did" "$(messages after)" 'GPU 1d0fbe6a2a1c0000: the run dead had set its clocks; they were put back'
    nothing_left
    x cancel --run dead >/dev/null
}

alive_is_held() {
    wait_for alive
    is "probe shows that the run still has the GPU" "$(x probe | jq -c '.clocks_left[0].held')" true
    x cancel --run alive >/dev/null
    is "the run is CANCELLED" "$(summary alive .status)" CANCELLED
    nothing_left
}

# die_slowly PID LOCK: kills the executor and keeps its lock for a second, as a busy kernel does.
die_slowly() {
    rm -f "$TMPDIR/dying"
    python3 -c 'import fcntl, sys, time
lock = open(sys.argv[1], "r+")
fcntl.lockf(lock, fcntl.LOCK_EX)
print(flush=True)
time.sleep(1)' "$2" >"$TMPDIR/dying" &
    kill -9 "$1"
    until_true 20 test -s "$TMPDIR/dying"
}

killed_and_cancelled() {
    wait_for gone
    die_slowly "$(supervisor gone)" "$ROOT/sys/kernsweep-gpu-1d0fbe6a2a1c0000.lock"
    x cancel --run gone >/dev/null
    is "the run is CANCELLED" "$(summary gone .status)" CANCELLED
    nothing_left
}

killed_and_resumed() {
    set_state manual 600 1500
    clocked again fixed 1400 "[ -e $TMPDIR/second ] || { touch $TMPDIR/second; sleep 1000; }; $(load 1400)"
    until_true 20 test -e "$TMPDIR/second"
    die_slowly "$(supervisor again)" "$WORK/gpu.lock"
    submit again
    is "the resumed run is COMPLETE" "$(outcome again)" COMPLETE
    is "what was before is not what the first attempt set" "$(summary again '.clocks.gpus[0] | [.level_before, .min_mhz_before, .max_mhz_before] | join(" ")')" "manual 600 1500"
    nothing_left "manual 600 1500"
    set_state auto 500 2100
}

# The driver is stuck, so the executor waits with the setting half made.
killed_while_setting() {
    : >"$ROOT/stuck"
    clocked half fixed 1400 "$good"
    until_true 20 grep -qx c "$CARD/pp_od_clk_voltage"
    kill -9 "$(supervisor half)"
    is "a record was there before" "$(jq -r .run_id "$RECORD")" half
    rm "$ROOT/stuck"
    until_true 20 sh -c "! grep -qx c '$CARD/pp_od_clk_voltage'"
    plain after-half
    nothing_left
    x cancel --run half >/dev/null
}

killed_while_restoring() {
    set_state manual 600 1500
    clocked back determinism 1400 "$(load 1400); : >$ROOT/stuck; sleep 0.3"
    until_true 20 test -e "$ROOT/stuck"
    until_true 20 grep -qx c "$CARD/pp_od_clk_voltage"
    kill -9 "$(supervisor back)"
    is "the record is still there" "$(jq -r '.before.max_mhz' "$RECORD")" 1500
    rm "$ROOT/stuck"
    plain after-back
    until_true 20 sh -c "! grep -qx c '$CARD/pp_od_clk_voltage'"
    nothing_left "manual 600 1500"
    set_state auto 500 2100
    x cancel --run back >/dev/null
}

# Killed after its record and before it changed anything.
nothing_was_set() {
    wait_for early
    kill -9 "$(supervisor early)"
    set_state auto 500 2100
    plain after-early
    like "it says so" "$(messages after-early)" 'they are no longer set'
    nothing_left
    x cancel --run early >/dev/null
}

restarted() {
    wait_for booted
    die_slowly "$(supervisor booted)" "$WORK/gpu.lock"
    echo 11111111-2222-3333-4444-555555555555 >"$ROOT/proc/sys/kernel/random/boot_id"
    set_state manual 700 1400
    is "probe shows nothing left" "$(x probe | jq -c .clocks_left)" null
    plain after-boot
    like "it says that the restart has settled it" "$(messages after-boot)" 'the restart of the machine has put them back'
    nothing_left "manual 700 1400"
    set_state auto 500 2100
    x cancel --run booted >/dev/null
}

changed_by_others() {
    wait_for changed
    kill -9 "$(supervisor changed)"
    set_state low 500 2100
    plain after-change
    like "it leaves them" "$(messages after-change)" 'they are no longer set'
    nothing_left "low 500 2100"
    set_state auto 500 2100
    x cancel --run changed >/dev/null
}

timed_out() {
    clocked late fixed 1400 "$(load 1400); sleep 1000" '{"tests": [{"variant": "v", "timeout_s": 1.5}]}'
    is "the run is COMPLETE" "$(outcome late)" COMPLETE
    is "its test is a TIMEOUT" "$(summary late '.tests[0].exit_status')" TIMEOUT
    nothing_left
}

told_to_end() {
    local pid
    wait_for told
    pid=$(supervisor told)
    kill -TERM "$pid"
    dies "$pid"
    nothing_left
    x cancel --run told >/dev/null
}

folder_for_a_record() {
    mkdir "$RECORD"
    plain beside-folder
    clocked no-record fixed 1400 "$(load 1400)"
    is "a run that needs a record is BLOCKED" "$(outcome no-record)" BLOCKED
    like "its reason says that no record can be kept" "$(summary no-record .reason)" 'the record that is needed to put the clocks back cannot be kept'
    is "the clocks are not touched" "$(state)" "$was"
    rmdir "$RECORD"
}

# foreign_record TEXT: ignored, and replaced by whoever needs the place
foreign_record() {
    printf '%s' "$1" >"$RECORD"
    plain "foreign-$2"
    is "the clocks are not touched" "$(state)" "$was"
    is "probe shows nothing left" "$(x probe | jq -c .clocks_left)" null
    clocked "over-$2" fixed 1400 "$(load 1400)"
    is "a run that needs the place is COMPLETE" "$(outcome "over-$2")" COMPLETE
    nothing_left
}

# The second GPU takes no limits, so the first, which was set already, is put back.
one_of_two() {
    local second=$ROOT/sys/class/drm/card2/device
    lay_tree "$ROOT" tests/fixtures/mi300x/well_tuned
    rm "$second/pp_od_clk_voltage"
    mkdir "$second/pp_od_clk_voltage"
    clocked two fixed 1400 "$(load 1400)" '{"gpus": "all", "gpus_per_test": 2}'
    is "the run is BLOCKED" "$(outcome two)" BLOCKED
    like "its reason names the file" "$(summary two .reason)" "card2/device/pp_od_clk_voltage: cannot write"
    is "the second GPU is as before" "$(head -n 1 "$second/power_dpm_force_performance_level")" auto
    nothing_left
    rmdir "$second/pp_od_clk_voltage"
    cp "$CARD/pp_od_clk_voltage" "$second/"
    clocked both fixed 1400 "$(load 1400); cp $second/power_dpm_force_performance_level $second/pp_od_clk_voltage \$KERNSWEEP_OUT" '{"gpus": "all", "gpus_per_test": 2}'
    is "a run on one of two whose other shows no load is BLOCKED" "$(outcome both)" BLOCKED
    is "the second was set, too" "$(state_of "$(bundle both)/v/ctx_64_run1")" "manual 1400 1400"
    clocks_are "and is put back" "$was" "$second"
    clocked first fixed 1400 "$(load 1400)" '{"env": {"HIP_VISIBLE_DEVICES": "0"}}'
    is "a run that sees only the first is COMPLETE" "$(outcome first)" COMPLETE
    is "only the first was set" "$(summary first '.clocks.gpus | map(.gpu) | join(" ")')" 1d0fbe6a2a1c0000
    nothing_left
    rm -rf "$ROOT/sys/class/drm/card2" "$ROOT/sys/class/kfd/kfd/topology/nodes/3"
}

scenario "clocks with an upper limit" held determinism 1900 "perf_determinism 500 1900"
scenario "fixed clocks" held fixed 1400 "manual 1400 1400"
scenario "clocks that an administrator had set" of_an_administrator
scenario "a GPU that runs at other clocks" contradicted
scenario "a GPU that runs at other clocks, where the plan only warns" warned
scenario "a GPU below and above its upper limit" below_the_limit
scenario "tests too short to show a clock" unseen
scenario "a driver that takes nothing over" stuck
scenario "an executor killed during a test" killed_in_test
scenario "a run that is alive and then cancelled" alive_is_held
scenario "an executor killed, its run cancelled" killed_and_cancelled
scenario "an executor killed, its run resumed" killed_and_resumed
scenario "an executor killed while it sets clocks" killed_while_setting
scenario "an executor killed while it puts clocks back" killed_while_restoring
scenario "an executor killed before it set anything" nothing_was_set
scenario "a machine that restarted" restarted
scenario "clocks that somebody else changed meanwhile" changed_by_others
scenario "a test that times out" timed_out
scenario "an executor that is told to end" told_to_end
scenario "a folder in the record's place" folder_for_a_record
scenario "two GPUs" one_of_two
scenario "a torn record" foreign_record '{"gpu": "1d0fbe6a2a1c0000", "run_id"' torn
scenario "a record with a level that does not exist" foreign_record '{"gpu":"1d0fbe6a2a1c0000","run_id":"r","boot_id":"b","since":"s","user":0,"mode":"fixed","mhz":1400,"before":{"level":"auto\nrm","min_mhz":0,"max_mhz":0}}' level
scenario "a record with a frequency out of range" foreign_record '{"gpu":"1d0fbe6a2a1c0000","run_id":"r","boot_id":"b","since":"s","user":0,"mode":"fixed","mhz":1400,"before":{"level":"manual","min_mhz":1,"max_mhz":99999999}}' range
done_testing
