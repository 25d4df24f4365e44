#!/usr/bin/env bash
# A node with four GPUs, played by a folder: tests on all of them at once, and what happens when some of them fail, hang, leave
# processes behind or keep memory, and when the executor dies in the midst of it.
. tests/lib.sh
. tests/executor.sh

KILLS=${KILLS:-12} # issue 17 asks for 200: KILLS=200 tests/run faults/executor_lanes --only 'random instants'
SYS=$TMPDIR/sys
SUBMIT=(--sysfs "$SYS")

card() {
    printf '%s/class/drm/card%s/device' "$SYS" "$1"
}

# vram CARD MIB
vram() {
    echo "$(($2 * 1048576))" >"$(card "$1")/mem_info_vram_used"
}

four_gpus() {
    local n
    rm -rf "$SYS"
    mkdir -p "$SYS/class/kfd/kfd/proc" "$SYS/module/amdgpu"
    for n in 1 2 3 4; do
        mkdir -p "$(card "$n")"
        echo 0x1002 >"$(card "$n")/vendor"
        echo 205822885888 >"$(card "$n")/mem_info_vram_total"
        vram "$n" 1000
        echo 0 >"$(card "$n")/gpu_busy_percent"
        echo "1d0fbe6a2a1c000$n" >"$(card "$n")/unique_id"
        echo "PCI_SLOT_NAME=0000:c$n:00.0" >"$(card "$n")/uevent"
        echo SPX >"$(card "$n")/current_compute_partition"
        echo NPS1 >"$(card "$n")/current_memory_partition"
        mkdir -p "$SYS/class/kfd/kfd/topology/nodes/$n"
        echo "$((1000 + n))" >"$SYS/class/kfd/kfd/topology/nodes/$n/gpu_id"
        printf 'gfx_target_version 90402\nlocation_id %u\ndomain 0\nunique_id %u\n' $(((0xc0 + n) << 8)) "0x1d0fbe6a2a1c000$n" \
            >"$SYS/class/kfd/kfd/topology/nodes/$n/properties"
    done
}

# Of a test's script: the number of its GPU, from what it is allowed to see.
# shellcheck disable=SC2016 # for the test's shell
mine='n=${ROCR_VISIBLE_DEVICES##*000}; '

# points ID SCRIPT [JOB_JSON]: eight contexts on four GPUs; a script may read $1, the context
points() {
    four_gpus
    job "$1" "$(jq -nc --arg s "$mine$2" --argjson j "${3:-"{}"}" \
        '{gpus: "all", sample_interval_ms: 20, vram_settle_s: 0.3,
          variants: [{name: "v", run: ["sh", "-c", $s, "sh", "{context}"]}],
          tests: [range(1; 9) | {variant: "v", context: .}]} + $j')"
}

# of ID CONTEXT FILTER [VARIANT]: its perf.json
of() {
    jq -r "$3" "$(bundle "$1")/${4:-v}/ctx_${2}_run1/perf.json"
}

# overlap ID: the greatest number of tests between their TEST_START and TEST_END
# shellcheck disable=SC2016 # for jq
overlap() {
    events "$1" 'reduce .[] as $e ({n: 0, most: 0}; if $e.event == "TEST_START" then .n += 1 | .most = ([.most, .n] | max)
        elif $e.event == "TEST_END" then .n -= 1 else . end) | .most'
}

# each ID: complains about every test whose log does not name its own GPU
each() {
    local c
    for c in 1 2 3 4 5 6 7 8; do
        grep -qx "sees GPU-$(of "$1" "$c" '.gpus[0].id') 0" "$(bundle "$1")/v/ctx_${c}_run1/run.log" || echo "context $c sees another GPU"
    done
}

# Each test waits until four have begun, so that all four lanes must run at the same time.
# shellcheck disable=SC2016 # for the test's shell
at_once() {
    points together 'echo "sees $ROCR_VISIBLE_DEVICES $HIP_VISIBLE_DEVICES"; touch '"$TMPDIR"'/begun.$1
        until [ $(ls '"$TMPDIR"'/begun.* | wc -l) -ge 4 ]; do sleep 0.02; done
        echo $(($1 * 1000 * 1048576)) >'"$SYS"'/class/drm/card$n/device/mem_info_vram_used; sleep 0.3
        echo $((1000 * 1048576)) >'"$SYS"'/class/drm/card$n/device/mem_info_vram_used; '"$good"
    run together
    is "all tests are OK" "$(statuses together)" "OK OK OK OK OK OK OK OK"
    is "four run at once" "$(overlap together)" 4
    is "each GPU has two of the eight points" \
        "$(events together '[.[] | select(.event == "TEST_START") | .gpus[0]] | group_by(.) | map(length) | join(" ")')" "2 2 2 2"
    is "each test sees its own GPU only, by its unique id" "$(each together)" ""
    is "the memory of a test is that of its own GPU" \
        "$(for c in 2 3 4 5 6 7 8; do of together $c '.vram.peak_bytes / 1048576 == (.context_len * 1000)'; done | sort -u)" true
    is "perf.json has the GPU, its address and mode" "$(of together 1 '.gpus[0] | "\(.id[-1:]) \(.pci) \(.mode) \(.index)"')" \
        "1 0000:c1:00.0 SPX/NPS1 0"
    is "it has the number of neighbours" "$(of together 1 .beside)" 3
    is "TEST_START has the lane" "$(events together '[.[] | select(.event == "TEST_START") | .lane] | unique | map(tostring) | join(" ")')" "0 1 2 3"
    is "nothing of another test is taken for a leftover" \
        "$(for c in 1 2 3 4 5 6 7 8; do of together $c '.cleanup | "\(.group_gone) \(.leftovers)"'; done | sort -u)" "true 0"
}

# shellcheck disable=SC2016 # for the test's shell
different_ends() {
    points ends 'case $1 in
        1) exit 3 ;;
        2) kill -SEGV $$ ;;
        3) exec sleep 1000 ;;
        4) echo $((9000 * 1048576)) >'"$SYS"'/class/drm/card$n/device/mem_info_vram_used; sleep 0.3
           echo $((1000 * 1048576)) >'"$SYS"'/class/drm/card$n/device/mem_info_vram_used ;;
        *) sleep 1.5 ;;
        esac; '"$good" '{"tests": [{"variant": "v", "context": 1}, {"variant": "v", "context": 2}, {"variant": "v", "context": 3, "timeout_s": 1},
            {"variant": "v", "context": 4}, {"variant": "v", "context": 5}]}'
    run ends
    is "each has its own status" "$(statuses ends)" "FAIL CRASH TIMEOUT OK OK"
    is "the others' memory is not theirs" "$(of ends 5 '.vram.peak_bytes / 1048576')" 1000
    is "all memory came back" "$(of ends 5 .cleanup.vram_back)" true
    is "the run is COMPLETE" "$(summary ends .status)" COMPLETE
}

# The second of two tests kills itself while the first makes the system's counter rise, as if the OOM killer had taken a process of
# the first: whose it was, the counter does not say.
oom_beside() {
    mkdir -p "$TMPDIR/proc"
    echo "oom_kill 4" >"$TMPDIR/proc/vmstat"
    # shellcheck disable=SC2016 # the workload's own argument
    points oom 'case $1 in
        1) until [ -e '"$TMPDIR"'/begun ]; do sleep 0.02; done; echo oom_kill 5 >'"$TMPDIR"'/proc/vmstat; touch '"$TMPDIR"'/rose; sleep 0.5 ;;
        2) touch '"$TMPDIR"'/begun; until [ -e '"$TMPDIR"'/rose ]; do sleep 0.02; done; kill -9 $$ ;;
        esac; '"$good" '{"tests": [{"variant": "v", "context": 1}, {"variant": "v", "context": 2}]}'
    run oom --proc "$TMPDIR/proc"
    is "it is no victim of the OOM killer" "$(statuses oom)" "OK CRASH"
    like "its diag.txt has what is known" "$(cat "$(bundle oom)/v/ctx_2_run1/diag.txt")" 'so perhaps not in this one: .*oom_kill .*rose from 4 to 5'
}

# Orphans with sessions of their own, without an environment, whose parents are gone: nothing of them says whose they are.
# shellcheck disable=SC2016 # for the test's shell
orphans() {
    local ended
    ended=$(bundle orphans)/v/ctx_1_run1/perf.json
    points orphans 'case $1 in
        1) (setsid env -i /bin/sleep 714.'"$OWN"' & setsid env -i sh -c "/bin/sleep 715.'"$OWN"' & exit" &)
           until [ -e '"$TMPDIR"'/orphans.2 ] && [ -e '"$TMPDIR"'/orphans.3 ] && pgrep -f "^/bin/sleep 715.'"$OWN"'"; do sleep 0.02; done ;;
        *) (setsid /bin/sleep 71$1$1.'"$OWN"' &); until pgrep -f "^/bin/sleep 71$1$1.'"$OWN"'"; do sleep 0.02; done; touch '"$TMPDIR"'/orphans.$1
           until [ -e '"$ended"' ]; do sleep 0.05; done
           pgrep -f "^/bin/sleep 71$1$1.'"$OWN"'" >/dev/null || exit 9
           pgrep -f "^/bin/sleep 71[45].'"$OWN"'" >/dev/null && exit 8 ;;
        esac; '"$good" '{"tests": [{"variant": "v", "context": 1}, {"variant": "v", "context": 2}, {"variant": "v", "context": 3}]}'
    run orphans
    is "each test is OK: its own processes live, those of the test that ended are gone" "$(statuses orphans)" "OK OK OK"
    is "they ran at once" "$(overlap orphans)" 3
    is "the leftovers count where they belong" "$(for c in 1 2 3; do of orphans $c .cleanup.leftovers; done | xargs)" "2 1 1"
    is "all are gone" "$(for c in 1 2 3; do of orphans $c .cleanup.group_gone; done | sort -u)" true
    is "none is left on the node" "$(pgrep -f "^/bin/sleep 71.*[.]$OWN" | wc -l)" 0
}

# The GPU of the first test keeps its memory, when two more tests of its point are left.
# shellcheck disable=SC2016 # for the test's shell
lane_out() {
    points out '[ "$1 $KERNSWEEP_REPETITION" != "1 1" ] || echo $((9000 * 1048576)) >'"$SYS"'/class/drm/card$n/device/mem_info_vram_used; sleep 0.2; '"$good" \
        "$(jq -nc '{tests: [range(1; 4) as $r | range(1; 5) as $c | {variant: "v", context: $c, repetition: $r}]}')"
    run out
    is "all tests are OK" "$(statuses out | xargs -n 1 | sort | uniq -c | xargs)" "12 OK"
    is "the point continues on one other GPU" \
        "$(events out '[.[] | select(.event == "TEST_START" and .ctx == 1) | .gpus[0][-1:]] | "\(.[0]) \(.[1] != "1" and .[1] == .[2])"')" "1 true"
    is "an event names the GPU" "$(events out '[.[] | .gpu_out // empty] | join(" ")')" 1d0fbe6a2a1c0001
    like "it says why" "$(messages out)" 'GPU 1d0fbe6a2a1c0001 takes no more tests: .*GPU memory stays at 9000 MiB after test 1, where it was 1000'
    like "it says where what is left goes on" "$(messages out)" 'context 1 continues on GPU 1d0fbe6a2a1c000[234]'
    is "the run is COMPLETE" "$(summary out .status)" COMPLETE
}

# shellcheck disable=SC2016 # for the test's shell
no_lane_left() {
    points none 'echo $((9000 * 1048576)) >'"$SYS"'/class/drm/card$n/device/mem_info_vram_used; '"$good"
    run none
    is "one test ran on each, the others are SKIPPED" "$(statuses none | xargs -n 1 | sort | uniq -c | xargs)" "4 OK 4 SKIPPED"
    like "with the reason" "$(summary none '.tests[7].reason')" 'is dirty: GPU memory stays at 9000 MiB'
    is "each GPU is named once" "$(events none '[.[] | .gpu_out // empty] | sort | unique | length')" 4
}

# A test on a GPU that was taken out, and may run nowhere else.
# shellcheck disable=SC2016 # for the test's shell
bound() {
    points bound '[ $KERNSWEEP_REPETITION != 1 ] || echo $((9000 * 1048576)) >'"$SYS"'/class/drm/card$n/device/mem_info_vram_used; '"$good" \
        '{"placement": "every", "tests": [{"variant": "v", "context": 1, "gpu": "1d0fbe6a2a1c0001"}, {"variant": "v", "context": 1, "repetition": 2, "gpu": "1d0fbe6a2a1c0001"},
            {"variant": "v", "context": 1, "repetition": 3, "gpu": "1d0fbe6a2a1c0002"}, {"variant": "v", "context": 1, "repetition": 4, "gpu": "1d0fbe6a2a1c0002"}]}'
    run bound
    is "it is SKIPPED, the others are OK" "$(statuses bound)" "OK SKIPPED OK OK"
    is "each ran where it had to" "$(events bound '[.[] | select(.event == "TEST_START") | .gpus[0][-1:]] | sort | join(" ")')" "1 2 2"
    is "the run is PARTIAL" "$(summary bound .status)" PARTIAL
    like "and says why" "$(summary bound .reason)" 'GPU 1d0fbe6a2a1c0001 is not used by this run, or was taken out of it'
}

# The others begin in turn, each once the one before it uses its GPU.
# shellcheck disable=SC2016 # for the test's shell
alone() {
    points alone 'mkdir '"$TMPDIR"'/now.$1.$KERNSWEEP_VARIANT; echo 2097152000 1<>'"$SYS"'/class/drm/card$n/device/mem_info_vram_used; sleep 0.5
        echo 1048576000 1<>'"$SYS"'/class/drm/card$n/device/mem_info_vram_used; n=$(ls -d '"$TMPDIR"'/now.* | wc -l)
        rmdir '"$TMPDIR"'/now.$1.$KERNSWEEP_VARIANT; [ $KERNSWEEP_VARIANT != quiet ] || [ $n = 1 ] || exit 7; '"$good" \
        "$(jq -nc '{tests: [range(1; 5) | {variant: ("v", "quiet"), context: .}]}')"
    edit alone '.job.variants += [.job.variants[0] + {name: "quiet", alone: true}]'
    run alone
    is "all tests are OK: those that run alone saw no other" "$(statuses alone | xargs -n 1 | sort | uniq -c | xargs)" "8 OK"
    is "they had no neighbour" "$(for c in 1 2 3 4; do of alone $c .beside quiet; done | sort -u)" 0
    is "the others ran at once" "$(overlap alone)" 4
}

# shellcheck disable=SC2016 # for the test's shell
cancelled() {
    points stop 'touch '"$TMPDIR"'/began.$1; exec sleep 72.'"$OWN"
    submit stop
    until_true 20 sh -c "[ \$(ls $TMPDIR/began.* | wc -l) = 4 ]"
    passes "cancel exits 0" x cancel --run stop
    is "the run is CANCELLED" "$(summary stop .status)" CANCELLED
    is "so are all its tests" "$(statuses stop | xargs -n 1 | sort | uniq -c | xargs)" "8 CANCELLED"
    is "four of them had begun" "$(events stop '[.[] | select(.event == "TEST_END") | .exit_status] | join(" ")')" "CANCELLED CANCELLED CANCELLED CANCELLED"
    is "nothing is left of them" "$(pgrep -f "^sleep 72.$OWN" | wc -l)" 0
}

# again ID: kills the executor at a random instant of the run, twice, and lets it end
again() {
    local pid
    for _ in 1 2; do
        submit "$1"
        pid=$(jq -r .pid "$TMPDIR/$1.submitted")
        sleep "0.$((RANDOM % 30))" # a random instant: that is what is tested
        [ "$pid" = null ] || kill -9 "$pid" 2>/dev/null || continue
        KILLED=$((KILLED + 1))
        dies "$pid"
    done
    run "$1"
}

# once ID: complains about tests that did not end once, or began after they had ended
once() {
    events "$1" '[.[] | select(.event == "TEST_START" or (.event == "TEST_END" and .retry == false))] | group_by(.test_index)[]
        | select((map(.event) | .[-1] != "TEST_END" or (map(select(. == "TEST_END")) | length) != 1) or .[-1].exit_status != "OK")
        | "test \(.[0].test_index) of '"$1"': \(map("\(.event) \(.exit_status // "")") | join(", "))"'
    events "$1" 'if [.[].seq] == [range(1; length + 1)] then empty else "events of '"$1"' are not numbered without a gap" end'
    [ "$(summary "$1" '.status + " " + (.counts.ok | tostring)')" = "COMPLETE 16" ] || echo "$1 is not COMPLETE"
    [ -z "$(pgrep -f "kernsweep-executor.*$1")" ] || echo "processes of $1 are left"
}

# Tests of some milliseconds, so that the executor dies in every part of its work, with some of them in flight.
# shellcheck disable=SC2016 # for the test's shell
killed() {
    local n=0
    KILLED=0
    while [ "$KILLED" -lt "$KILLS" ] && [ $n -lt "$KILLS" ]; do
        n=$((n + 1))
        points "kill$n" '(setsid sleep 0.05 &); sleep 0.0$(($1 * 3 % 7)); '"$good" \
            "$(jq -nc '{tests: [range(1; 9) as $c | range(1; 3) as $r | {variant: "v", context: $c, repetition: $r}]}')"
        again "kill$n"
        once "kill$n" >>"$TMPDIR/kills.wrong"
        [ -s "$TMPDIR/kills.wrong" ] || rm -rf "$(bundle "kill$n")"
    done
    diag "$KILLED kills in $n runs"
    is "each test of each run ended once" "$(cat "$TMPDIR/kills.wrong")" ""
    ok "the executor was killed $KILLS times" "$([ "$KILLED" -ge "$KILLS" ]; echo $?)" "$KILLED"
}

# Each of the tests in flight is repeated once, and only those.
# shellcheck disable=SC2016 # for the test's shell
killed_at_once() {
    points dead '[ -e '"$TMPDIR"'/dead.go ] || { touch '"$TMPDIR"'/dead.$1; (setsid sleep 73.'"$OWN"' &); exec sleep 74.'"$OWN"'; }; '"$good"
    submit dead
    until_true 20 sh -c "[ \$(ls $TMPDIR/dead.* | grep -c '[0-9]$') = 4 ]"
    kill -9 "$(supervisor dead)"
    passes "the tests die with the executor, their daemons live on" until_true 60 sh -c "! pgrep -f '^sleep 74.$OWN' && [ \$(pgrep -f '^sleep 73.$OWN' | wc -l) = 4 ]"
    touch "$TMPDIR/dead.go"
    first=$(events dead '[.[] | select(.event == "TEST_START") | "\(.test_index) \(.gpus[0])"] | sort | join(",")')
    run dead
    is "all tests are OK" "$(statuses dead)" "OK OK OK OK OK OK OK OK"
    is "four have a second attempt" "$(events dead '[.[] | select(.event == "TEST_END" and .retry == false) | .attempt] | sort | map(tostring) | join(" ")')" "1 1 1 1 2 2 2 2"
    is "on the GPU of their first" \
        "$(events dead '[.[] | select(.event == "TEST_START" and .attempt == 2) | "\(.test_index) \(.gpus[0])"] | sort | join(",")')" "$first"
    is "their daemons are ended" "$(pgrep -f "^sleep 73.$OWN" | wc -l)" 0
}

scenario "tests on four GPUs" at_once
scenario "tests beside each other that end in different ways" different_ends
scenario "a test that is killed while the OOM killer acts on its neighbour" oom_beside
scenario "orphans of tests that run beside each other" orphans
scenario "a GPU that is taken out" lane_out
scenario "the last GPU is taken out" no_lane_left
scenario "tests that may run on one GPU only" bound
scenario "tests that run alone" alone
scenario "a cancelled run on four GPUs" cancelled
scenario "an executor that is killed with four tests in flight" killed_at_once
scenario "an executor that is killed at random instants" killed
done_testing
