#!/usr/bin/env bash
# Two workdirs, as two users have them, on one machine: a GPU is one run's at a time, and a dead run keeps none. Programs that
# are no runs are seen by the load of the GPUs.
. tests/lib.sh
. tests/executor.sh

SYS=$TMPDIR/sys
SUBMIT=(--sysfs "$SYS")
for card in 0 1; do
    mkdir -p "$SYS/class/drm/card$card/device"
    echo 0x1002 >"$SYS/class/drm/card$card/device/vendor"
    echo 1000000 >"$SYS/class/drm/card$card/device/mem_info_vram_total"
    echo "1d0fbe6a2a1c000$card" >"$SYS/class/drm/card$card/device/unique_id"
done
LOCKS=$SYS # beside a sysfs that is played by a folder; else /run/lock or /dev/shm

# use WORKDIR: the workdir of the calls that follow
use() {
    WORK=$TMPDIR/$1
}

# sweep ID SCRIPT [JOB_JSON]: submitted in the current workdir
sweep() {
    job "$1" "$(shell "$2" "${3:-}" | jq -c '(if .env then {} else {gpus: "all"} end) + .')"
    submit "$1"
}

# hold ID [JOB_JSON]: a run of the first workdir that keeps its GPUs until $TMPDIR/ID is removed
hold() {
    use first
    touch "$TMPDIR/$1"
    sweep "$1" "while [ -e $TMPDIR/$1 ]; do sleep 0.05; done; $good" "${2:-"{}"}"
    waits "$1" '.event == "TEST_START"'
    use second
}

# result ID: how a run of the second workdir ends
result() {
    follow "$1"
    summary "$1" '"\(.status) \(.counts.ok)"'
}

# released ID: the run that holds the GPUs ends
released() {
    use first
    rm -f "$TMPDIR/$1"
    x cancel --run "$1" >/dev/null
    use second
}

all_gpus() {
    hold all
    is "the locks' files are writable by everybody" "$(stat -c %a "$LOCKS"/kernsweep-gpu-1d0fbe6a2a1c000{0,1}.lock | xargs)" "666 666"
    sweep refused "$good"
    is "a run in another workdir is BLOCKED" "$(result refused)" "BLOCKED 0"
    like "the reason names the GPU and the run that has it" "$(summary refused .reason)" '^GPU 1d0fbe6a2a1c0000 is used by the run all \(pid [0-9]+\); set lock_wait_s'
    released all
}

dead_holder() {
    hold dying
    sweep waiting "$good" '{"lock_wait_s": 600}'
    waits waiting '.event == "NODE" and ((.message // "") | test("waiting up to 600 s for the run dying .*GPU"))'
    ok "a run with lock_wait_s waits for it" $?
    kill -9 "$(WORK=$TMPDIR/first supervisor dying)"
    is "the run that waits has the GPUs when the other is killed" "$(result waiting)" "COMPLETE 1"
    released dying
}

# A run of listed GPUs and one of all wait for the first GPU, the former first; if the run of all had the second meanwhile, neither
# would ever get what it lacks.
both_wait() {
    hold early '{"gpus": ["0"]}'
    sweep listed "$good" '{"gpus": ["1", "0"], "lock_wait_s": 15}'
    waits listed '.event == "NODE" and ((.message // "") | test("waiting up to 15 s for the run early"))'
    use third
    sweep every "$good" '{"lock_wait_s": 15}'
    waits every '.event == "NODE" and ((.message // "") | test("waiting up to 15 s for the run early"))'
    released early
    is "the run that lists them gets both" "$(result listed)" "COMPLETE 1"
    use third
    is "then the run of all of them" "$(result every)" "COMPLETE 1"
    unlike "it has all of them" "$(events every '.[] | .message // ""')" 'continuing without'
}

one_gpu() {
    hold one '{"env": {"HIP_VISIBLE_DEVICES": "0"}}'
    sweep other "$good" '{"env": {"HIP_VISIBLE_DEVICES": "1"}}'
    is "a run that sees another GPU runs" "$(result other)" "COMPLETE 1"
    sweep same "$good" '{"env": {"ROCR_VISIBLE_DEVICES": "1d0fbe6a2a1c0000"}}'
    is "a run that sees the same GPU, by its id, is BLOCKED" "$(result same)" "BLOCKED 0"
    sweep unknown "$good" '{"env": {"HIP_VISIBLE_DEVICES": "7"}}'
    is "a run that names an unknown GPU takes all, and is BLOCKED" "$(result unknown)" "BLOCKED 0"
    export SLURM_JOB_ID=1
    sweep scheduled "$good"
    is "a run under a scheduler that assigns GPUs takes no lock and runs" "$(result scheduled)" "COMPLETE 1"
    unset SLURM_JOB_ID
    released one
}

links() {
    use second
    rm -f "$LOCKS"/kernsweep-gpu-*.lock
    echo precious >"$TMPDIR/precious"
    ln -s "$TMPDIR/precious" "$LOCKS/kernsweep-gpu-1d0fbe6a2a1c0000.lock"
    ln "$TMPDIR/precious" "$LOCKS/kernsweep-gpu-1d0fbe6a2a1c0001.lock"
    sweep trapped "$good"
    is "a run goes on without the locks" "$(result trapped)" "COMPLETE 1"
    is "the journal says so for each GPU" "$(events trapped '[.[] | select((.message // "") | test("cannot be locked against runs"))] | length')" 2
    is "the links' target is unchanged" "$(cat "$TMPDIR/precious")" precious
    rm -f "$LOCKS"/kernsweep-gpu-*.lock
}

# load PERCENT: of the second GPU, in one write of a length that is always the same
load() {
    printf '%3d\n' "$1" 1<>"$SYS/class/drm/card1/device/gpu_busy_percent"
}

# bursts PERCENT: of another program, 0.2 s in each 0.8 s, the first after 0.5 s, until $TMPDIR/busy is removed
bursts() {
    touch "$TMPDIR/busy"
    load 0
    while sleep 0.5 && [ -e "$TMPDIR/busy" ]; do
        load "$1"
        sleep 0.2
        load 0
        sleep 0.1
    done &
    BURSTS=$!
}

busy_in_bursts() {
    local began card
    use second
    for card in 0 1; do echo '  0' >"$SYS/class/drm/card$card/device/gpu_busy_percent"; done
    bursts 95
    sweep pair "$good" '{"purpose": "ab"}'
    is "ab is BLOCKED by a GPU that another program uses now and then" "$(result pair)" "BLOCKED 0"
    like "the reason names its load" "$(summary pair .reason)" '^the GPUs were never idle for 2 s: .*95 %'
    sweep impatient "$good"
    is "a sweep without lock_wait_s runs at once" "$(result impatient)" "COMPLETE 1"
    sweep patient "$good" '{"lock_wait_s": 0.5}'
    is "one with lock_wait_s runs after that time" "$(result patient)" "COMPLETE 1"
    like "and says so" "$(messages patient)" 'the GPUs were never idle for 2 s: .*95 %'
    sweep later "$good" '{"purpose": "ab", "lock_wait_s": 600}'
    waits later '.event == "NODE" and ((.message // "") | test("waiting up to 600 s for idle GPUs"))'
    rm "$TMPDIR/busy"
    wait "$BURSTS"
    is "ab with lock_wait_s runs once they are idle" "$(result later)" "COMPLETE 1"
    load 60
    (sleep 0.3 && load 0) &
    sweep lagging "$good" '{"purpose": "ab"}'
    is "the end of an earlier load is no reason to refuse" "$(result lagging)" "COMPLETE 1"
    rm "$SYS"/class/drm/card?/device/gpu_busy_percent
    began=$EPOCHREALTIME
    sweep unknown-load "$good" '{"purpose": "ab", "lock_wait_s": 600}'
    is "where no load is known, it runs" "$(result unknown-load)" "COMPLETE 1"
    ok "without a wait" "$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print !(b - a < 1.9) }')"
}

scenario "a run that holds all GPUs" all_gpus
scenario "a run that holds all GPUs and dies" dead_holder
scenario "a run that holds one of two GPUs" one_gpu
scenario "runs that wait for the same GPUs" both_wait
scenario "GPUs that another program uses in bursts" busy_in_bursts
scenario "links in the place of the locks" links
done_testing
